"""Names for the shell: there when the server is, silent when it is not."""

from types import SimpleNamespace

from tidegate.cli.completion import names_of
from tidegate.cli.http.nouns import BACKUP, VOLUME
from tidegate.testing.resources.builders import a_backup, a_volume


def context(**flags):
    """What the completion machinery hands over: the root's parameters."""
    return SimpleNamespace(find_root=lambda: SimpleNamespace(params=flags))


def test_names_that_begin_like_what_was_typed_are_offered(server, tmp_path):
    server.put(a_backup("nightly"))
    server.put(a_backup("weekly"))
    server.put(a_volume("shop", "db"))
    here = context(data_dir=str(tmp_path / "data"))

    assert names_of(BACKUP)(here, "ni") == ["nightly"]
    assert names_of(VOLUME)(here, "") == ["shop/db"]


def test_nothing_is_offered_and_nothing_is_said_without_a_server(tmp_path, capsys):
    assert names_of(BACKUP)(context(data_dir=str(tmp_path)), "") == []
    assert names_of(BACKUP)(context(server="http://127.0.0.1:1", data_dir=str(tmp_path)), "") == []
    assert capsys.readouterr() == ("", "")


def test_a_refused_token_offers_nothing(server, tmp_path):
    (tmp_path / "token").write_text("wrong")

    assert names_of(BACKUP)(context(server=server.url, token_file=str(tmp_path / "token")), "") == []
