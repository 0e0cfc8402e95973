import pytest

from tidegate.errors import InvalidInput
from tidegate.model.transfers.mover_job import TargetAccess
from tidegate.objects.credentials import check_credentials
from tidegate.objects.open import open_store
from tidegate.objects.place import Place, read_place

PLACES = [
    ("s3", "bucket@eu-central-1/path/", Place("s3", "bucket", "eu-central-1", "path/")),
    ("s3", "bucket@eu-central-1", Place("s3", "bucket", "eu-central-1", "")),
    ("s3", "bucket/a/b", Place("s3", "bucket", "", "a/b")),
    ("s3", "bucket//a?ignored=1", Place("s3", "bucket", "", "a")),
    ("azblob", "box@core.windows.net/p/", Place("azblob", "box", "core.windows.net", "p/")),
    ("azblob", "box/", Place("azblob", "box", "", "")),
    ("gs", "bucket/with%20space/", Place("gs", "bucket", "", "with space/")),
]


@pytest.mark.parametrize(("scheme", "rest", "place"), PLACES)
def test_a_url_names_a_bucket_a_region_and_a_path(scheme, rest, place):
    assert read_place(scheme, rest) == place


@pytest.mark.parametrize("place", ["s3://bucket@eu-central-1/path/", "azblob://box/", "gs://bucket/a/b"])
def test_the_canonical_url_is_kept(place):
    scheme, _, rest = place.partition("://")

    assert str(read_place(scheme, rest)) == place


@pytest.mark.parametrize(
    "rest", ["", "/path", "@region/", "b/", "bucket@/x", "bucket@a b/", "bucket/../x", "bucket/a//b"]
)
def test_a_url_that_can_never_work_is_refused(rest):
    with pytest.raises(InvalidInput):
        read_place("s3", rest)


KEYS = {"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "hush"}
WRONG = [
    ("s3", {"AWS_ACCESS_KEY_ID": "hush"}, "no AWS_SECRET_ACCESS_KEY"),
    ("s3", {"AWS_SECRET_ACCESS_KEY": "hush"}, "no AWS_ACCESS_KEY_ID"),
    ("s3", {**KEYS, "AWS_PROFILE": "hush"}, "cannot have AWS_PROFILE"),
    ("s3", {**KEYS, "VIRTUAL_HOSTED_STYLE": "hush"}, "true or false"),
    ("s3", {**KEYS, "AWS_ENDPOINTS": "hush:9000"}, "https:// or http://"),
    ("azblob", {"AZBLOB_ACCOUNT_KEY": "hush"}, "no AZBLOB_ACCOUNT_NAME"),
    ("azblob", KEYS, "cannot have AWS_ACCESS_KEY_ID"),
    ("file", KEYS, "cannot have AWS_ACCESS_KEY_ID"),
]


@pytest.mark.parametrize(("scheme", "given", "sentence"), WRONG)
def test_wrong_credentials_are_named_but_not_shown(scheme, given, sentence):
    with pytest.raises(InvalidInput, match=sentence) as refused:
        check_credentials(scheme, given)

    assert "hush" not in f"{refused.value!r} {refused.value.hint}"


MALFORMED = [
    ("s3://bucket/", {**KEYS, "AWS_CERT": "hush"}),
    ("s3://bucket/", {**KEYS, "HTTPS_PROXY": "http://user:hush@:x"}),
    ("azblob://box/", {"AZBLOB_ACCOUNT_NAME": "name", "AZBLOB_ACCOUNT_KEY": "hush!"}),
    ("gs://bucket/", {"GOOGLE_SERVICE_ACCOUNT_KEY": "hush"}),
]


@pytest.mark.parametrize(("url", "given"), MALFORMED)
def test_credentials_that_cannot_be_read_are_refused_and_not_shown(url, given):
    with pytest.raises(InvalidInput, match="malformed") as refused:
        open_store(TargetAccess(url=url, credentials=given))

    assert "hush" not in f"{refused.value!r} {refused.value.__cause__}"


def test_azure_needs_an_account():
    with pytest.raises(InvalidInput, match="AZBLOB_ACCOUNT_NAME"):
        open_store(TargetAccess(url="azblob://box/"))
