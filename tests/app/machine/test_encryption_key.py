"""Where a key comes from, and where it never goes."""

import pytest

from tidegate.app.machine.encryption_key import find_key, with_key_of_machine, without_key
from tidegate.errors import InvalidInput
from tidegate.format.blocks.encryption_key import KEY, KEY_FILE, EncryptionKey
from tidegate.model.transfers.mover_job import TargetAccess

TEXT = "11" * 32


def credentials(access_credentials, environment):
    access = TargetAccess(url="file:///s", credentials=access_credentials)
    return dict(with_key_of_machine(access, environment).credentials)


def test_the_targets_own_key_goes_before_that_of_the_machine():
    environment = {KEY_FILE: "/machine", "HOME": "/root"}

    assert credentials({"USER": "u"}, environment) == {"USER": "u", KEY_FILE: "/machine"}
    assert credentials({KEY: TEXT}, environment) == {KEY: TEXT}
    assert credentials({}, {"HOME": "/root"}) == {}


def test_a_child_finds_no_key_in_its_environment():
    assert without_key({KEY: TEXT, KEY_FILE: "/x", "HOME": "/root"}) == {"HOME": "/root"}


def test_a_key_is_read_from_its_file(tmp_path):
    (tmp_path / "key").write_text(TEXT + "\n")

    assert find_key({KEY_FILE: str(tmp_path / "key")}) == EncryptionKey.parse(TEXT)
    assert find_key({}) is None


@pytest.mark.parametrize("content", [None, b"", b"short", b"\xff" * 9999])
def test_a_file_without_a_key_is_told_and_never_means_no_encryption(tmp_path, content):
    if content is not None:
        (tmp_path / "key").write_bytes(content)

    with pytest.raises(InvalidInput):
        find_key({KEY_FILE: str(tmp_path / "key")})
