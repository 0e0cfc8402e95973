import pytest

from tidegate.app.machine.secret_files import SecretFiles, parse_secret
from tidegate.errors import InvalidInput

TEXT = b"""# of the bucket
AWS_ACCESS_KEY_ID=id
export AWS_SECRET_ACCESS_KEY="a=b c"

AWS_CERT='-----BEGIN\\nXYZ\\n-----END'
"""


def test_a_secret_is_lines_of_keys_and_values():
    secret = {"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "a=b c", "AWS_CERT": "-----BEGIN\nXYZ\n-----END"}

    assert parse_secret(TEXT, what="f") == secret


@pytest.mark.parametrize("text", [b"A=1\nhush", b"A=1\n=hush", b"A=1\nA=hush", b"lower=hush", b"A=" + b"x" * 300_000])
def test_what_is_no_secret_is_refused_without_showing_it(text):
    with pytest.raises(InvalidInput) as refused:
        parse_secret(text, what="f")

    assert "hush" not in str(refused.value)


async def test_a_secret_is_read_anew_each_time(tmp_path):
    path = tmp_path / "s3"
    path.write_text("A=1")
    path.chmod(0o600)
    secrets = SecretFiles(tmp_path)
    first = await secrets.read("s3")
    path.write_text("A=2")

    assert (first, await secrets.read("s3")) == ({"A": "1"}, {"A": "2"})


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660])
async def test_a_secret_that_others_can_reach_is_refused(tmp_path, mode):
    (tmp_path / "s3").write_text("A=1")
    (tmp_path / "s3").chmod(mode)

    with pytest.raises(InvalidInput, match="others") as refused:
        await SecretFiles(tmp_path).read("s3")
    assert "chmod 600" in refused.value.hint


@pytest.mark.parametrize("name", ["missing", "../admin.token", "a/b", "", "folder", "link"])
async def test_a_name_that_is_no_secret_is_refused(tmp_path, name):
    (tmp_path / "folder").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to("/etc/passwd")

    with pytest.raises(InvalidInput):
        await SecretFiles(tmp_path).read(name)
