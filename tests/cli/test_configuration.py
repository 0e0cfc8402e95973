"""Where configuration is read from, and what `config show` tells of it."""

import pytest

from tidegate.cli.configuration import load_configuration, read_configuration
from tidegate.cli.environment import Environment
from tidegate.errors import InvalidInput


@pytest.fixture
def read(tmp_path):
    def read_with(flags=None, **variables):
        return read_configuration(flags or {}, Environment({"HOME": str(tmp_path / "home"), **variables}, tmp_path))

    return read_with


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_without_anything_the_defaults_hold(read, tmp_path):
    configuration = read()

    assert configuration.data_dir == str(tmp_path / "home/.local/state/tidegate")
    assert configuration.listen == "127.0.0.1:8470"
    assert set(configuration.origins.values()) == {"default"}


def test_state_and_configuration_follow_the_xdg_variables_if_they_are_absolute(read, tmp_path):
    write(tmp_path / "xdg" / "tidegate" / "tidegate.toml", 'log_level = "debug"')

    configuration = read(XDG_STATE_HOME=str(tmp_path / "state"), XDG_CONFIG_HOME=str(tmp_path / "xdg"))

    assert configuration.data_dir == str(tmp_path / "state" / "tidegate")
    assert configuration.log_level == "debug"
    assert read(XDG_STATE_HOME="relative").data_dir == str(tmp_path / "home/.local/state/tidegate")


def test_flags_win_over_environment_over_directory_over_user_file(read, tmp_path):
    user = tmp_path / "home/.config/tidegate/tidegate.toml"
    here = tmp_path / "tidegate.toml"
    write(user, 'listen = "a:1"\nlog_level = "error"\nlog_format = "json"\ncolor = "never"')
    write(here, 'listen = "a:2"\nlog_level = "warning"\nlog_format = "console"')

    configuration = read({"listen": "a:4", "server": None}, TIDEGATE_LISTEN="a:3", TIDEGATE_LOG_LEVEL="debug")

    assert (configuration.listen, configuration.origins["listen"]) == ("a:4", "--listen")
    assert (configuration.log_level, configuration.origins["log_level"]) == ("debug", "TIDEGATE_LOG_LEVEL")
    assert (configuration.log_format, configuration.origins["log_format"]) == ("console", str(here))
    assert (configuration.color, configuration.origins["color"]) == ("never", str(user))


def test_a_named_file_takes_the_place_of_the_one_in_the_directory(read, tmp_path):
    write(tmp_path / "tidegate.toml", 'log_level = "error"')
    write(tmp_path / "etc" / "other.toml", 'data_dir = "state"')

    configuration = read({"config": "etc/other.toml"})

    assert configuration.log_level == "info"
    assert configuration.data_dir == str(tmp_path / "etc" / "state")
    assert read(TIDEGATE_CONFIG="etc/other.toml") == configuration


def test_a_named_file_that_is_missing_is_an_error(read):
    with pytest.raises(InvalidInput, match="There is no configuration file"):
        read({"config": "missing.toml"})


@pytest.mark.parametrize(
    ("text", "sentence", "field"),
    [
        ('sever = "http://x"', "the key 'sever' is not known", "sever"),
        ("listen = 8470", "listen must be a text", "listen"),
        ('log_level = "loud"', "must be one of", "log_level"),
        ('token = "secret"', "token does not belong into a file", "token"),
        ("listen = ", "is not TOML", "config"),
    ],
)
def test_a_wrong_file_is_told_with_its_path_and_key(read, tmp_path, text, sentence, field):
    write(tmp_path / "tidegate.toml", text)

    with pytest.raises(InvalidInput, match=sentence) as error:
        read()

    assert str(tmp_path / "tidegate.toml") in error.value.message
    assert error.value.field == field


def test_the_closest_known_key_is_suggested(read, tmp_path):
    write(tmp_path / "tidegate.toml", 'sever = "http://x"')

    with pytest.raises(InvalidInput) as error:
        read()

    assert error.value.hint == "Did you mean server?"


def test_relative_and_home_paths_are_made_absolute(read, tmp_path):
    assert read({"data_dir": "here/../there"}).data_dir == str(tmp_path / "there")
    assert read(TIDEGATE_DATA_DIR="~/state").data_dir == str(tmp_path / "home" / "state")


def test_the_process_itself_can_be_asked():
    assert load_configuration({"listen": "[::1]:0"}).listen == "[::1]:0"


def test_config_show_tells_values_and_origins_but_never_the_token(run, tmp_path):
    write(tmp_path / "tidegate.toml", 'color = "never"')

    result = run("config", "show", "--origin", "--server", "http://x:1", TIDEGATE_TOKEN="very-secret")

    lines = {line.split()[0]: line.split()[1:] for line in result.out.splitlines()}
    assert lines["server"] == ["http://x:1", "--server"]
    assert lines["color"] == ["never", str(tmp_path / "tidegate.toml")]
    assert lines["token"] == ["(set)", "TIDEGATE_TOKEN"]
    assert lines["listen"] == ["127.0.0.1:8470", "default"]
    assert "very-secret" not in result.out + result.err


def test_config_show_in_json_has_values_or_values_with_origins(run):
    assert run("config", "show", "-o", "json").json["log_level"] == "info"
    assert run("config", "show", "--origin", "-o", "json").json["log_level"] == {"value": "info", "origin": "default"}


def test_a_broken_configuration_is_rejected_but_help_still_works(run, tmp_path):
    write(tmp_path / "tidegate.toml", "oops = 1")

    assert run("config", "show").code == 4
    assert run("backup", "get").code == 4
    assert run("--help").code == 0


def test_an_unknown_variable_is_rejected(run):
    result = run("config", "show", TIDEGATE_SERVR="x")

    assert result.code == 4
    assert "TIDEGATE_SERVR" in result.err
    assert "Did you mean TIDEGATE_SERVER?" in result.err
