"""Which value of the configuration wins, and where it came from.

Layers come in order of their weight: flags, environment, the file that was asked for, the user's file, defaults. A
value that no setting has a use for is a mistake to be told: a misspelt key that is silently ignored is found out on
the day of the restore.
"""

import difflib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tidegate.decide.access.forwarded import parse_networks
from tidegate.decide.access.hosts import parse_hosts
from tidegate.errors import InvalidInput

PREFIX = "TIDEGATE_"
DEFAULT_LISTEN = "127.0.0.1:8470"

# Variables of ours that are not fields: which file to read, whether bugs show their traceback, what movers need.
OTHER_VARIABLES = frozenset(
    {
        "TIDEGATE_CONFIG",
        "TIDEGATE_DEBUG",
        "TIDEGATE_ENCRYPTION_KEY",
        "TIDEGATE_ENCRYPTION_KEY_FILE",
        "TIDEGATE_MAPS_DIR",
    }
)
# Kubernetes gives these to every pod beside a Service named tidegate; they are nobody's configuration.
_SERVICE_LINK = re.compile(r"TIDEGATE_(SERVICE_(HOST|PORT)|PORT)(_.*)?")
_LISTEN = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[^\s:/\[\]]+):(\d{1,5})")
_HIGHEST_PORT = 65_535

Check = Callable[[str], str | None]
"""Returns what is wrong with a text, or None."""


def _anything(_text: str) -> str | None:
    return None


def _one_of(*choices: str) -> Check:
    return lambda text: None if text in choices else f"must be one of {', '.join(choices)}"


def _address(text: str) -> str | None:
    found = _LISTEN.fullmatch(text)
    if found is None or int(found[1]) > _HIGHEST_PORT:
        return f"must be an address and a port, such as {DEFAULT_LISTEN} or [::1]:8470"
    return None


def _at_least_one(text: str) -> str | None:
    return None if text.isascii() and text.isdigit() and int(text) >= 1 else "must be a whole number of at least 1"


def _time(text: str) -> str | None:
    # Here: it comes with pydantic, and most commands read no duration.
    from tidegate.model.duration import parse_duration

    try:
        return None if parse_duration(text) else "must be longer than nothing"
    except ValueError:
        return "must be a duration, such as 15s or 5m"


def _networks(text: str) -> str | None:
    try:
        parse_networks(text)
    except ValueError:
        return "must be networks or addresses between commas, such as 10.0.0.0/8,192.0.2.1"
    return None


def _hosts(text: str) -> str | None:
    try:
        parse_hosts(text)
    except ValueError:
        return "must be names of hosts between commas, such as backup.example.org,*.lan; * alone allows every name"
    return None


def _server_url(text: str) -> str | None:
    if text and not re.fullmatch(r"https?://[^\s/?#]+[^\s?#]*", text):
        return "must be a URL that begins with http:// or https://, such as http://127.0.0.1:8470"
    return None


@dataclass(frozen=True)
class ConfigurationField:
    """One thing that can be configured."""

    name: str
    default: str
    description: str
    check: Check = _anything
    is_path: bool = False
    in_files: bool = True
    """A secret does not belong into a file that people share."""

    @property
    def variable(self) -> str:
        """Its name in the environment."""
        return f"{PREFIX}{self.name.upper()}"


FIELDS: Mapping[str, ConfigurationField] = {
    one.name: one
    for one in (
        ConfigurationField("data_dir", "", "Where the server keeps its state.", is_path=True),
        ConfigurationField("listen", DEFAULT_LISTEN, "Address and port that the server listens on.", _address),
        ConfigurationField("server", "", "URL of the server; empty: the one of the data directory.", _server_url),
        ConfigurationField("token", "", "Token that the server gave out. Never shown.", in_files=False),
        ConfigurationField("token_file", "", "File with the token.", is_path=True),
        ConfigurationField("log_format", "auto", "How the server logs.", _one_of("auto", "console", "json")),
        ConfigurationField(
            "log_level", "info", "How much the server logs.", _one_of("debug", "info", "warning", "error")
        ),
        ConfigurationField(
            "concurrent_backups",
            "",
            "How many backups may run at once. The server writes it into the setting `concurrent-backups` when it "
            "starts, over what was set before; empty: the setting stays as it is.",
            _at_least_one,
        ),
        ConfigurationField(
            "load_config",
            "",
            "File with the JSON of the setting `load-concurrency`. The server writes it into the setting when it "
            "starts, over what was set before; empty: the setting stays as it is.",
            is_path=True,
        ),
        ConfigurationField(
            "nodes",
            "",
            'File with virtual nodes, all on this machine: [{"name": "node-a", "labels": {"disk": "slow"}, '
            '"slots": 2}]. Empty: the server is one node, named after the machine.',
            is_path=True,
        ),
        ConfigurationField(
            "max_connections",
            "",
            "How many connections the server takes at once, half of them from one address; empty: half of the file "
            "descriptors that the process may have, at most 2000.",
            _at_least_one,
        ),
        ConfigurationField(
            "trusted_proxies",
            "",
            "Addresses or networks of the proxies before the server, between commas: `10.0.0.0/8,192.0.2.1`. What they "
            "say in `X-Forwarded-*` and `Forwarded` about the client counts; what others say there does not.",
            _networks,
        ),
        ConfigurationField(
            "allowed_hosts",
            "",
            "Names by which clients may call the server, between commas, beside its addresses, localhost and the name "
            "of the machine: `backup.example.org,*.lan`; `*` allows every name.",
            _hosts,
        ),
        ConfigurationField("open_metrics", "false", "Whether `/metrics` needs no token.", _one_of("true", "false")),
        ConfigurationField(
            "header_timeout", "15s", "How long a client may take to send the headers of a request.", _time
        ),
        ConfigurationField("idle_timeout", "15s", "How long a connection may wait for its next request.", _time),
        ConfigurationField(
            "request_timeout",
            "5m",
            "How long a request may take from its first byte to the first one of its answer.",
            _time,
        ),
        ConfigurationField(
            "progress_timeout",
            "30s",
            "How long a client may neither send a byte of its body nor take a byte of its answer. Downloads and event "
            "streams have no other limit.",
            _time,
        ),
        ConfigurationField("color", "auto", "Whether output is coloured.", _one_of("auto", "always", "never")),
    )
}


@dataclass(frozen=True)
class Layer:
    """Values from one place. `places` tells for each of them where a person would change it."""

    values: Mapping[str, str]
    places: Mapping[str, str]


@dataclass(frozen=True)
class Configuration:
    """All values, each with where it came from."""

    data_dir: str
    listen: str
    server: str
    token: str = field(repr=False)
    token_file: str
    log_format: str
    log_level: str
    concurrent_backups: str
    load_config: str
    nodes: str
    max_connections: str
    trusted_proxies: str
    allowed_hosts: str
    open_metrics: str
    header_timeout: str
    idle_timeout: str
    request_timeout: str
    progress_timeout: str
    color: str
    origins: Mapping[str, str]


def layered(layers: Sequence[Layer]) -> Configuration:
    """The value of the first layer that has one, for every field; raises InvalidInput for a value that is wrong.

    Values that lose are checked too: they would win on another day.
    """
    values = {name: one.default for name, one in FIELDS.items()}
    origins = dict.fromkeys(FIELDS, "default")
    for layer in reversed(layers):
        for name, value in layer.values.items():
            problem = FIELDS[name].check(value)
            if problem is not None:
                raise InvalidInput(f"{layer.places[name]}: {value!r} {problem}.", field=name)
            values[name] = value
            origins[name] = layer.places[name]
    return Configuration(**values, origins=origins)


def flag_layer(flags: Mapping[str, object]) -> Layer:
    """The flags that were given; None means that one was not."""
    given = {name: str(value) for name, value in flags.items() if value is not None and name in FIELDS}
    return Layer(given, {name: f"--{name.replace('_', '-')}" for name in given})


def environment_layer(variables: Mapping[str, str]) -> Layer:
    """The `TIDEGATE_*` variables. An empty one counts as not set; one that nobody knows is refused."""
    fields = {one.variable: name for name, one in FIELDS.items()}
    values: dict[str, str] = {}
    for variable, value in sorted(variables.items()):
        if not variable.startswith(PREFIX) or variable in OTHER_VARIABLES or _SERVICE_LINK.fullmatch(variable):
            continue
        if variable not in fields:
            raise InvalidInput(
                f"The environment variable {variable} is not known.",
                field=variable,
                hint=_suggestion(variable, [*fields, *OTHER_VARIABLES]),
            )
        if value:
            values[fields[variable]] = value
    return Layer(values, {name: FIELDS[name].variable for name in values})


def file_layer(document: Mapping[str, object], path: str) -> Layer:
    """The keys of one file; raises InvalidInput with the file and the key for what does not belong there."""
    known = [name for name, one in FIELDS.items() if one.in_files]
    values: dict[str, str] = {}
    for key, value in document.items():
        if key in FIELDS and not FIELDS[key].in_files:
            raise InvalidInput(
                f"{path}: {key} does not belong into a file.",
                field=key,
                hint=f"Name a file that holds only the token with {key}_file, or set {FIELDS[key].variable}.",
            )
        if key not in known:
            raise InvalidInput(f"{path}: the key {key!r} is not known.", field=key, hint=_suggestion(key, known))
        if not isinstance(value, str):
            raise InvalidInput(f"{path}: {key} must be a text in quotes, not {value!r}.", field=key)
        values[key] = value
    return Layer(values, dict.fromkeys(values, path))


def _suggestion(name: str, known: Iterable[str]) -> str:
    # Without the prefix, which would make all variables look alike.
    names = {one.removeprefix(PREFIX): one for one in sorted(known)}
    closest = difflib.get_close_matches(name.removeprefix(PREFIX), names, n=1)
    return f"Did you mean {names[closest[0]]}?" if closest else f"Known are {', '.join(names.values())}."
