"""Looking into a backup over HTTP: lists, downloads, and what is never let through."""

import os

import pytest

from tidegate.app.machine.clock import SystemClock
from tidegate.app.machine.store_probe import ThreadedStoreProbe
from tidegate.app.machine.stored_trees import KeptTrees
from tidegate.model.backups.backup import BackupPhase
from tidegate.model.resource import Metadata
from tidegate.model.transfers.mover_job import TargetAccess
from tidegate.model.transfers.transfer import BACKUP_LABEL, PodVolumeBackup, TransferPhase, TransferSpec
from tidegate.model.volumes.volume_kind import VolumeKind
from tidegate.objects.open import open_store
from tidegate.testing.doubles.secrets import FakeSecrets
from tidegate.testing.mover_bench import MoverBench
from tidegate.testing.resources.builders import a_backup, a_target
from tidegate.testing.resources.put import put

KEY = "00" * 32
ODD = 'od"d\n né.txt'
NO_TEXT = "no-text-\N{REPLACEMENT CHARACTER}"
LARGE = b"a" * 2_500_000 + b"b" * 2_500_000  # three blocks, no two alike


def write_tree(root):
    (root / "etc").mkdir(parents=True)
    (root / "etc" / "page.html").write_text("<script>alert(1)</script>")
    (root / "large").write_bytes(LARGE)
    (root / "empty").write_bytes(b"")
    (root / ODD).write_text("odd")
    (root / os.fsdecode(b"no-text-\xff")).write_text("bytes")
    (root / "link").symlink_to("/etc/passwd")
    os.link(root / "large", root / "same")


@pytest.fixture(scope="module", params=["plain", "encrypted"])
def written(request, tmp_path_factory):
    """A tree in a store that is a directory: written once, for writing takes longer than looking."""
    root = tmp_path_factory.mktemp(request.param)
    write_tree(root / "data")
    (root / "store").mkdir()
    objects = open_store(TargetAccess(url=f"file://{root}/store"))
    bench = MoverBench(objects, volume="shop.files", key=KEY if request.param == "encrypted" else None)
    bench.upload(root / "data", "backup-1", VolumeKind.DIRECTORY)
    return root


@pytest.fixture
async def stored(written, services):
    """The records of that backup."""
    services.secrets = FakeSecrets({"key": {"TIDEGATE_ENCRYPTION_KEY": KEY}})
    target = a_target("store", url=f"file://{written}/store", default=True)
    await put(services.store, target.replace(spec=target.spec.replace(credential_secret="key")))
    backup = await put(services.store, a_backup("b", phase=BackupPhase.COMPLETED))
    spec = TransferSpec(
        volume_namespace="shop",
        volume_name="files",
        volume_kind=VolumeKind.DIRECTORY,
        path="/data",
        target="store",
        store_volume="shop.files",
        store_backup="backup-1",
    )
    metadata = Metadata(name="b-files", labels={BACKUP_LABEL: backup.metadata.uid})
    upload = PodVolumeBackup(metadata=metadata, spec=spec)
    await put(services.store, upload.with_status(phase=TransferPhase.COMPLETED))
    services.trees = KeptTrees(ThreadedStoreProbe(), SystemClock())
    yield services
    services.trees.close()


async def names(api, query=""):
    answer = await api.get(f"/v1/backups/b/files{query}")
    assert answer.status_code == 200, answer.text
    return [one["name"] for one in answer.json()["data"]]


async def test_a_directory_is_told_in_pages(api, stored):
    first = (await api.get("/v1/backups/b/files?limit=3")).json()
    rest = (await api.get("/v1/backups/b/files", params={"marker": first["pagination"]["next"]})).json()

    told = [one["name"] for one in first["data"] + rest["data"]]
    assert told == ["etc", "empty", "large", "link", NO_TEXT, ODD, "same"]
    assert "next" not in rest["pagination"]
    assert await names(api, "?path=etc") == ["page.html"]
    assert await names(api, "?path=/etc/&volume=shop/files") == ["page.html"]


async def test_a_file_comes_whole_and_is_never_shown_as_a_page(api, stored):
    answer = await api.get("/v1/backups/b/content?path=etc/page.html")

    assert answer.content == b"<script>alert(1)</script>"
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"] == "attachment; filename*=UTF-8''page.html"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in answer.headers["content-security-policy"]
    assert (await api.get("/v1/backups/b/content?path=large")).content == LARGE
    assert (await api.get("/v1/backups/b/content?path=same")).content == LARGE
    assert (await api.get("/v1/backups/b/content?path=empty")).content == b""


@pytest.mark.parametrize(
    ("asked", "first", "end"),
    [
        ("bytes=0-0", 0, 1),
        ("bytes=2499990-2500010", 2_499_990, 2_500_011),
        ("bytes=4999990-", 4_999_990, 5_000_000),
        ("bytes=-5", 4_999_995, 5_000_000),
        ("bytes=4999999-9999999", 4_999_999, 5_000_000),
    ],
)
async def test_a_download_goes_on_where_it_broke_off(api, stored, asked, first, end):
    answer = await api.get("/v1/backups/b/content?path=large", headers={"Range": asked})

    assert (answer.status_code, answer.content) == (206, LARGE[first:end])
    assert answer.headers["content-range"] == f"bytes {first}-{end - 1}/{len(LARGE)}"
    assert answer.headers["content-length"] == str(end - first)


@pytest.mark.parametrize("asked", ["bytes=5000000-", "bytes=9999999-99999999", "bytes=-0"])
async def test_bytes_behind_the_end_are_not_there(api, stored, asked):
    answer = await api.get("/v1/backups/b/content?path=large", headers={"Range": asked})

    assert (answer.status_code, answer.headers["content-range"]) == (416, f"bytes */{len(LARGE)}")
    assert answer.json()["detail"] == f"the file has {len(LARGE)} bytes"
    assert stored.trees._files == 0


async def test_the_rest_comes_only_of_the_version_that_the_client_has(api, stored):
    way = "/v1/backups/b/content?path=large"
    tag = (await api.get(way, headers={"Range": "bytes=0-0"})).headers["etag"]

    same = await api.get(way, headers={"Range": "bytes=4999990-", "If-Range": tag})
    another = await api.get(way, headers={"Range": "bytes=4999990-", "If-Range": '"another"'})

    assert (same.status_code, same.content) == (206, LARGE[4_999_990:])
    assert (another.status_code, another.content) == (200, LARGE)


async def test_every_name_can_be_asked_for_by_its_key(api, stored):
    listed = (await api.get("/v1/backups/b/files")).json()["data"]
    keys = {one["name"]: one["key"] for one in listed}

    odd = await api.get(f"/v1/backups/b/content?path={keys[ODD]}")
    assert odd.content == b"odd"
    assert odd.headers["content-disposition"] == "attachment; filename*=UTF-8''od%22d%0A%20n%C3%A9.txt"
    assert (await api.get(f"/v1/backups/b/content?path={keys[NO_TEXT]}")).content == b"bytes"


@pytest.mark.parametrize(
    ("path", "status", "sentence"),
    [
        ("files?path=nowhere", 404, "there is no 'nowhere' in the backup"),
        ("files?path=large", 409, "'large' is a file, not a directory"),
        ("files?marker=x", 422, "is no marker"),
        ("files?volume=shop/db", 404, "backup b has no volume shop/db"),
        ("content?path=etc", 409, "'etc' is a directory, not a file"),
        ("content?path=link", 409, "'link' is a symlink, not a file"),
        ("content?path=../../etc/passwd", 404, "there is no"),
        ("content", 409, "'.' is a directory, not a file"),
    ],
)
async def test_what_cannot_be_shown_is_told_in_a_sentence(api, stored, path, status, sentence):
    answer = await api.get(f"/v1/backups/b/{path}")

    assert (answer.status_code, sentence in answer.json()["detail"]) == (status, True), answer.text


async def test_only_who_has_a_token_may_look(api, stored):
    for path in ("files", "content?path=large"):
        assert (await api.get(f"/v1/backups/b/{path}", headers={"Authorization": ""})).status_code == 401


async def test_files_that_are_let_go_make_room_for_others(api, stored):
    for _ in range(20):
        assert (await api.get("/v1/backups/b/content?path=etc/page.html")).status_code == 200


async def test_a_wrong_key_is_one_sentence(api, stored, written):
    stored.secrets.known["key"] = {"TIDEGATE_ENCRYPTION_KEY": "11" * 32}

    answer = await api.get("/v1/backups/b/files")

    told = (answer.status_code, answer.json().get("code"))
    assert told == ((403, "WrongKey") if written.name.startswith("encrypted") else (200, None)), answer.text


# The last one: what it breaks stays broken.
async def test_a_damaged_block_is_one_sentence(api, stored, written):
    assert "large" in await names(api)  # the list is kept; the blocks are not
    for block in (written / "store").rglob("*.blk"):
        block.write_bytes(b"rot")

    answer = await api.get("/v1/backups/b/content?path=large")

    assert answer.status_code == 500
    assert answer.json()["code"] == "DamagedBlock"
