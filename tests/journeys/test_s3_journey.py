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


def refusal(server, bucket):
    refused = server.run("target", "create", "x", f"s3://{bucket}/", "--credential-secret", "offsite")
    return refused.returncode, refused.stderr


def test_half_a_pair_of_keys_is_told_at_once(server, bucket):
    write_secret(server, "offsite", {"AWS_ACCESS_KEY_ID": "only-one"})

    code, words = refusal(server, bucket)

    assert (code, "no AWS_SECRET_ACCESS_KEY" in words) == (4, True), words


def test_keys_that_the_store_refuses_are_told_at_once_and_not_shown(server, rclone, bucket):
    write_secret(server, "offsite", rclone.credentials(AWS_SECRET_ACCESS_KEY="not-the-one"))

    code, words = refusal(server, bucket)

    assert (code, "not allowed" in words, "not-the-one" in words) == (12, True, False), words


def test_a_secret_that_others_can_read_is_refused(server, rclone, bucket):
    write_secret(server, "offsite", rclone.credentials(), mode=0o644)

    code, words = refusal(server, bucket)

    assert (code, "can be read by others" in words) == (4, True), words


def test_a_secret_that_is_not_there_is_told_with_its_place(server):
    refused = server.run("target", "create", "x", "s3://bucket/", "--credential-secret", "nobody")

    assert (refused.returncode, "secrets/nobody" in refused.stderr) == (4, True), refused.stderr
