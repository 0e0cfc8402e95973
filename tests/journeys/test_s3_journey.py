"""The same story with a store behind HTTP: a secret, a target, a backup, a loss, a restore."""

import shutil

import pytest

from tidegate.testing.sample_data import fill_image, fill_tree, picture


def write_secret(server, name, values, mode=0o600):
    path = server.state / "secrets" / name
    path.parent.mkdir(mode=0o700, exist_ok=True)
    path.write_text("".join(f"{key}={value}\n" for key, value in values.items()))
    path.chmod(mode)


@pytest.fixture
def target(server, rclone, bucket):
    write_secret(server, "offsite", rclone.credentials())
    url = f"s3://{bucket}@us-east-1/backups/"
    server.tidegate("target", "create", "offsite", url, "--credential-secret", "offsite")
    return rclone.root / "buckets" / bucket / "backups"


def test_what_was_destroyed_comes_back_from_a_bucket(server, target, rclone, tmp_path):
    docs, disk = fill_tree(tmp_path / "docs"), fill_image(tmp_path / "disk.img")
    server.tidegate("volume", "create", "docs", "-n", "home", "--directory", str(docs))
    server.tidegate("volume", "create", "disk", "-n", "home", "--image", str(disk))
    before = picture(docs), disk.read_bytes()
    server.tidegate("backup", "create", "first", "--include-namespaces", "home", "--wait")
    shutil.rmtree(docs)
    disk.unlink()

    server.tidegate("restore", "create", "back", "--from-backup", "first", "--wait")

    assert (picture(docs), disk.read_bytes()) == before
    assert len(list((target / "backupstore").rglob("backup_*.cfg"))) == 2
    assert rclone.secret not in server.tidegate("target", "get", "-o", "yaml")


MISTAKES = [
    ({"AWS_ACCESS_KEY_ID": "only-one"}, 0o600, 4, "no AWS_SECRET_ACCESS_KEY"),
    ({"AWS_SECRET_ACCESS_KEY": "not-the-one"}, 0o600, 12, "not allowed"),
    ({}, 0o644, 4, "can be read by others"),
]


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_a_secret_is_told_at_once(server, rclone, bucket, mistake):
    change, mode, code, sentence = mistake
    values = change if len(change) == 1 and "AWS_ACCESS_KEY_ID" in change else rclone.credentials(**change)
    write_secret(server, "offsite", values, mode)

    refused = server.run("target", "create", "x", f"s3://{bucket}/", "--credential-secret", "offsite")

    assert (refused.returncode, sentence in refused.stderr) == (code, True), refused.stderr
    assert "not-the-one" not in refused.stderr


def test_a_secret_that_is_not_there_is_told_with_its_place(server):
    refused = server.run("target", "create", "x", "s3://bucket/", "--credential-secret", "nobody")

    assert (refused.returncode, "secrets/nobody" in refused.stderr) == (4, True), refused.stderr
