"""Every implementation of SecretStore keeps the same promise."""

import pytest

from tidegate.app.machine.secret_files import SecretFiles
from tidegate.errors import InvalidInput
from tidegate.ports.secrets import NoSecrets, SecretStore
from tidegate.testing.doubles.secrets import FakeSecrets

KNOWN = {"KEY": "value", "OTHER": "a=b"}


def in_files(tmp_path):
    path = tmp_path / "known"
    path.write_text("".join(f"{key}={value}\n" for key, value in KNOWN.items()))
    path.chmod(0o600)
    return SecretFiles(tmp_path)


def in_memory(_tmp_path):
    return FakeSecrets({"known": dict(KNOWN)})


IMPLEMENTATIONS: dict[type[SecretStore], object] = {
    SecretFiles: in_files,
    FakeSecrets: in_memory,
    NoSecrets: lambda _tmp_path: NoSecrets(),
}
HOLDERS = [kind for kind in IMPLEMENTATIONS if kind is not NoSecrets]


@pytest.fixture
def secrets(request, tmp_path):
    return IMPLEMENTATIONS[request.param](tmp_path)


@pytest.mark.parametrize("secrets", HOLDERS, indirect=True, ids=lambda kind: kind.__name__)
async def test_a_secret_is_read_by_its_name(secrets):
    assert await secrets.read("known") == KNOWN


@pytest.mark.parametrize("secrets", HOLDERS, indirect=True, ids=lambda kind: kind.__name__)
async def test_a_reader_cannot_change_the_secret(secrets):
    (await secrets.read("known")).clear()

    assert await secrets.read("known") == KNOWN


@pytest.mark.parametrize("secrets", IMPLEMENTATIONS, indirect=True, ids=lambda kind: kind.__name__)
async def test_a_secret_that_does_not_exist_is_invalid_input_that_names_it(secrets):
    with pytest.raises(InvalidInput, match="missing"):
        await secrets.read("missing")
