import pytest

from tidegate.errors import InvalidInput
from tidegate.format.cfgs.backup_url import BackupUrl


@pytest.mark.parametrize(
    ("parts", "url"),
    [
        (BackupUrl("vfs:///srv/store", "v1", "b1"), "vfs:///srv/store?backup=b1&volume=v1"),
        (BackupUrl("s3://bucket@region/path/", "v1"), "s3://bucket@region/path/?volume=v1"),
        (
            BackupUrl("nfs://h:/p?nfsOptions=soft%2Ctimeo%3D450", "v1", "b1"),
            "nfs://h:/p?backup=b1&nfsOptions=soft%2Ctimeo%3D450&volume=v1",
        ),
    ],
)
def test_a_url_is_written_as_longhorn_does_and_read_back(parts, url):
    assert parts.encode() == url
    assert BackupUrl.decode(url) == parts


def test_a_url_copied_out_of_json_works():
    url = "vfs:///s?backup=b1\\u0026volume=v1"

    assert BackupUrl.decode(url) == BackupUrl("vfs:///s", "v1", "b1")


@pytest.mark.parametrize(
    "url",
    ["", "b1", "vfs:///s", "vfs:///s?backup=b1", "/s?volume=v1", "vfs:///s?volume=../x", "v://s?volume=v1&backup=-"],
)
def test_what_is_no_backup_url_is_refused(url):
    with pytest.raises(InvalidInput):
        BackupUrl.decode(url)
