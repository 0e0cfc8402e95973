"""`backup ls`, `inspect`, `inspect-volume` and `head` print what Longhorn's own program prints."""

import json

import pytest

from tidegate.testing.stores.golden import GOLDEN, WHY_SKIPPED, copy_of_store

golden = pytest.mark.skipif(not GOLDEN.is_dir(), reason=WHY_SKIPPED)
CASES = ["lz4", "gzip"]
BACKUPS = ["backup-a", "backup-b", "backup-c", "backup-d"]


def expected(case, name):
    return (GOLDEN / case / "expected" / f"{name}.json").read_text().strip()


def printed(result, case):
    assert (result.code, result.err) == (0, "")
    return result.out.strip().replace(str(GOLDEN / case / "store"), "@STORE@")


@golden
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(("name", "options"), [("ls", []), ("ls-volume-only", ["--volume-only"])])
def test_a_store_is_listed_as_longhorn_lists_it(run, case, name, options):
    result = run("backup", "ls", f"vfs://{GOLDEN / case / 'store'}", "--all-fields", *options)

    assert printed(result, case) == expected(case, name)


@golden
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("backup", BACKUPS)
def test_a_backup_is_inspected_as_longhorn_inspects_it(run, case, backup):
    volume = f"pvc-golden-{case}"

    result = run(
        "backup", "inspect", f"vfs://{GOLDEN / case / 'store'}?backup={backup}\\u0026volume={volume}", "--all-fields"
    )

    assert printed(result, case) == expected(case, f"inspect-{volume}-{backup}")


@golden
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("verb", ["inspect-volume", "inspect"])
def test_a_volume_is_inspected_as_longhorn_inspects_it(run, case, verb):
    volume = f"pvc-golden-{case}"

    result = run("backup", verb, f"vfs://{GOLDEN / case / 'store'}?volume={volume}", "--all-fields")

    assert printed(result, case) == expected(case, f"inspect-volume-{volume}")


@golden
def test_a_store_is_listed_by_names_alone_as_the_design_documents_it(run):
    store = f"vfs://{GOLDEN / 'lz4' / 'store'}"

    volumes = run("backup", "ls", store, "--volume-only").json
    backups = run("backup", "ls", store, "--volume", "pvc-golden-lz4")

    assert volumes == {"pvc-golden-lz4": {}}
    urls = {f"{store}?backup={name}&volume=pvc-golden-lz4": {} for name in BACKUPS}
    assert backups.json == {"pvc-golden-lz4": {"Backups": urls}}
    assert "\\u0026volume=" in backups.out


@golden
def test_inspecting_tells_exactly_the_documented_facts(run):
    store = f"vfs://{GOLDEN / 'lz4' / 'store'}"

    volume = run("backup", "inspect", f"{store}?volume=pvc-golden-lz4").json
    backup = run("backup", "inspect", f"{store}?backup=backup-c\\u0026volume=pvc-golden-lz4").json

    assert " ".join(volume) == "Name Size Labels Created LastBackupName LastBackupAt DataStored Messages"
    facts = "Name URL SnapshotName SnapshotCreated Created Size Labels IsIncremental"
    assert " ".join(backup) == f"{facts} VolumeName VolumeSize VolumeCreated Messages"
    assert (backup["Labels"], backup["Messages"], volume["Messages"]) == ({}, None, {})


@golden
def test_the_whole_golden_store_is_verified_as_whole(run):
    result = run("store", "verify", str(GOLDEN / "lz4" / "store"), "--read-data", "100", "-o", "json")

    assert (result.code, result.json["whole"], result.json["volumes"][0]["notes"]) == (0, True, [])


@golden
def test_a_block_of_zeros_that_longhorn_stored_is_no_difference_to_a_hole(run, tmp_path):
    store = copy_of_store("lz4", tmp_path / "store")
    url = f"{store}?backup=backup-d&volume=pvc-golden-lz4"
    run("store", "restore", url, "--to", "image")
    run("store", "backup", "image", "--to", str(store), "--volume", "pvc-golden-lz4", "--name", "backup-e")

    result = run("store", "diff", url, "backup-e")

    assert (result.code, result.out, result.err) == (0, "", "")


def test_a_volume_that_is_not_there_is_told_in_the_listing(run, tmp_path):
    result = run("backup", "ls", str(tmp_path), "--volume", "nosuch")

    assert result.code == 0
    assert result.json["nosuch"]["Messages"]["error"].startswith("cannot find backupstore/volumes/")


def test_what_is_not_there_cannot_be_found(run, tmp_path):
    (tmp_path / "tree").mkdir()
    run("store", "backup", "tree", "--to", str(tmp_path), "--volume", "shop", "--name", "backup-1")

    for verb, query in [
        ("inspect", "volume=nosuch"),
        ("inspect", "volume=shop&backup=nosuch"),
        ("head", "volume=nosuch"),
    ]:
        result = run("backup", verb, f"{tmp_path}?{query}")
        assert (result.code, result.out) == (5, "")
        assert "cannot find" in result.err


def test_a_backup_in_progress_is_told_with_longhorns_words(run, tmp_path):
    (tmp_path / "tree").mkdir()
    run("store", "backup", "tree", "--to", str(tmp_path), "--volume", "shop", "--name", "backup-1")
    cfg = next(tmp_path.rglob("backup_backup-1.cfg"))
    cfg.write_text(json.dumps(json.loads(cfg.read_text()) | {"CreatedTime": ""}))

    result = run("backup", "inspect", f"{tmp_path}?volume=shop&backup=backup-1")

    assert result.code == 6
    assert "backup backup-1 is still in progress" in result.err


def test_a_damaged_cfg_is_listed_by_its_name_and_cannot_be_inspected(run, tmp_path):
    """L6."""
    (tmp_path / "tree").mkdir()
    run("store", "backup", "tree", "--to", str(tmp_path), "--volume", "shop", "--name", "backup-1")
    next(tmp_path.rglob("backup_backup-1.cfg")).write_text("{")

    listed = run("backup", "ls", str(tmp_path), "--volume", "shop").json
    inspected = run("backup", "inspect", f"{tmp_path}?volume=shop&backup=backup-1")

    assert [url.partition("?")[2] for url in listed["shop"]["Backups"]] == ["backup=backup-1&volume=shop"]
    assert (inspected.code, inspected.out, "not valid JSON" in inspected.err) == (1, "", True)


def test_head_tells_when_the_record_was_written(run, tmp_path):
    (tmp_path / "tree").mkdir()
    run("store", "backup", "tree", "--to", str(tmp_path), "--volume", "shop")

    result = run("backup", "head", f"{tmp_path}?volume=shop")

    assert result.json["ModificationTime"].endswith("Z")
