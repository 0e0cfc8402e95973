"""Which directories of this machine are stores of targets."""

import pytest

from tidegate.decide.stores.places import store_places
from tidegate.testing.resources.builders import a_target


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("file:///mnt/usb", "/mnt/usb"),
        ("vfs:///mnt/usb/", "/mnt/usb"),
        ("FILE:////mnt/my%20disk/?x=1", "/mnt/my disk"),
        ("file:///", "/"),
    ],
)
def test_a_directory_is_the_one_that_its_url_opens(url, path):
    (place,) = store_places([a_target("usb", url=url)])

    assert (place.path, place.sentence) == (path, f"is, holds or lies in {path}, the store of target usb")


@pytest.mark.parametrize("url", ["nfs://nas:/export", "cifs://nas/share"])
def test_a_share_is_where_tidegate_mounts_shares(url):
    (place,) = store_places([a_target("nas", url=url)])

    words = "is, holds or lies in /run/tidegate/mounts, where the store of target nas is mounted"
    assert place.sentence == words


@pytest.mark.parametrize("url", ["s3://bucket@region/mnt/usb", "azblob://b/", "gs://b/", "file://host/path", "/mnt"])
def test_what_is_elsewhere_or_names_no_directory_is_none(url):
    assert store_places([a_target("far", url=url)]) == ()
