"""Which value wins, by tables."""

import pytest

from tidegate.decide.server.configuration import Layer, environment_layer, file_layer, flag_layer, layered
from tidegate.errors import InvalidInput


def layer(place, **values):
    return Layer(values, dict.fromkeys(values, place))


def test_the_first_layer_that_has_a_value_wins_and_is_named():
    configuration = layered([layer("flag", color="never"), layer("file", color="always", log_level="debug")])

    assert (configuration.color, configuration.origins["color"]) == ("never", "flag")
    assert (configuration.log_level, configuration.origins["log_level"]) == ("debug", "file")
    assert configuration.origins["listen"] == "default"


def test_a_wrong_value_is_told_even_where_it_loses():
    with pytest.raises(InvalidInput, match="file: 'purple' must be one of auto, always, never"):
        layered([layer("flag", color="never"), layer("file", color="purple")])


@pytest.mark.parametrize("text", ["127.0.0.1:8470", "localhost:0", "[::1]:65535", "0.0.0.0:80"])
def test_an_address_with_a_port_is_one_to_listen_on(text):
    assert layered([layer("x", listen=text)]).listen == text


@pytest.mark.parametrize("text", ["8470", "localhost", "localhost:", ":80", "::1:80", "a:65536", "http://a:1", "a b:1"])
def test_anything_else_is_not(text):
    with pytest.raises(InvalidInput):
        layered([layer("x", listen=text)])


@pytest.mark.parametrize("text", ["", "http://a", "https://a:1/prefix"])
def test_a_server_is_a_url(text):
    assert layered([layer("x", server=text)]).server == text


@pytest.mark.parametrize("text", ["a:1", "ftp://a", "http://", "http://a?b", "http://a b"])
def test_what_is_not_a_web_address_is_not_a_server(text):
    with pytest.raises(InvalidInput):
        layered([layer("x", server=text)])


def test_flags_that_were_not_given_do_not_count():
    assert flag_layer({"server": None, "token_file": "t", "other": "x"}) == Layer(
        {"token_file": "t"}, {"token_file": "--token-file"}
    )


def test_empty_variables_and_those_of_others_do_not_count():
    assert environment_layer(
        {"TIDEGATE_SERVER": "", "PATH": "x", "TIDEGATE_DEBUG": "1", "TIDEGATE_CONFIG": "f"}
    ) == Layer({}, {})


@pytest.mark.parametrize(
    "variable",
    ["TIDEGATE_PORT", "TIDEGATE_SERVICE_HOST", "TIDEGATE_SERVICE_PORT_HTTP", "TIDEGATE_PORT_8470_TCP_ADDR"],
)
def test_what_kubernetes_gives_to_pods_beside_a_service_is_not_a_mistake(variable):
    assert environment_layer({variable: "tcp://10.0.0.1:8470"}).values == {}


def test_a_variable_that_nobody_knows_is_refused_with_all_that_are_known():
    with pytest.raises(InvalidInput, match="TIDEGATE_XYZ") as error:
        environment_layer({"TIDEGATE_XYZ": "1"})

    assert "TIDEGATE_DATA_DIR" in error.value.hint


def test_the_token_is_not_part_of_what_is_printed():
    assert "secret" not in repr(layered([layer("x", token="secret")]))


def test_a_file_layer_names_its_file():
    assert file_layer({"color": "never"}, "f.toml") == Layer({"color": "never"}, {"color": "f.toml"})
