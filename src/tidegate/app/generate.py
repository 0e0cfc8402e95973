"""The files that are made from the code: `make generate` writes them, `make check` makes sure they are up to date."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from typer.main import get_command

from tidegate import __version__
from tidegate.api.application import build_application
from tidegate.api.problems import STATUS_BY_ERROR
from tidegate.api.services import Services
from tidegate.app.commands import build_commands
from tidegate.app.machine.clock import SystemClock
from tidegate.app.machine.identity import new_id
from tidegate.app.machine.store_probe import ThreadedStoreProbe
from tidegate.app.machine.volume_probe import LocalVolumeProbe
from tidegate.app.page_types import typescript
from tidegate.cli.exit_codes import EXIT_CODES, ExitCode
from tidegate.decide.server.configuration import FIELDS
from tidegate.errors import error_classes
from tidegate.model.setting import KNOWN_SETTINGS
from tidegate.resources.memory import MemoryStore
from tidegate.state.server_state import ServerState

_NOTE = "<!-- Made by `make generate`; change the code, not this file. -->\n\n"


def main() -> None:
    """Write all files, or with --check say which are out of date and exit with 1."""
    root = Path(__file__).resolve().parents[3]
    wanted = {root / "docs" / name: text for name, text in documents().items()}
    wanted[root / "ui" / "src" / "api" / "types.ts"] = _page_types()
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text() != text]
    if "--check" in sys.argv[1:]:
        for path in stale:
            sys.stderr.write(f"{path.relative_to(root)} is out of date; run: make generate\n")
        sys.exit(1 if stale else 0)
    for path in stale:
        path.write_text(wanted[path])
        sys.stdout.write(f"wrote {path.relative_to(root)}\n")


def documents() -> dict[str, str]:
    """File names below docs/ and what must be in them."""
    return {"openapi.json": _openapi(), "cli.md": _cli(), "settings.md": _settings(), "errors.md": _errors()}


def _openapi() -> str:
    return json.dumps(_schema(), indent=1) + "\n"


def _page_types() -> str:
    return typescript(_schema()["components"]["schemas"], KNOWN_SETTINGS.values())


def _schema() -> dict[str, Any]:
    clock = SystemClock()
    services = Services(
        ServerState(MemoryStore(clock=clock, new_id=new_id), clock, Random()),  # noqa: S311  # jitter, not secrets
        clock,
        LocalVolumeProbe(),
        ThreadedStoreProbe(),
        token_is_good=lambda _token: False,
        version=__version__,
    )
    return build_application(services).openapi()


def _cli() -> str:
    parts = [
        "# Commands\n",
        _NOTE,
        "Exit codes: " + ", ".join(f"{int(c)} {_words(c.name)}" for c in ExitCode) + ".\n\n",
    ]
    for path, command in _commands("tidegate", get_command(build_commands())):
        context = command.make_context(path, [], resilient_parsing=True)
        context.info_name = path
        parts.append(f"## {path}\n\n```\n{command.get_help(context).rstrip()}\n```\n\n")
    return "".join(parts).rstrip() + "\n"


def _commands(path: str, command: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401  # typer's own click
    yield path, command
    for name, child in sorted(getattr(command, "commands", {}).items()):
        if not child.hidden:
            yield from _commands(f"{path} {name}", child)


def _settings() -> str:
    lines = ["# Settings and configuration\n\n", _NOTE]
    lines.append("## Settings\n\nChanged while the server runs: `tidegate setting set NAME VALUE`.\n\n")
    lines.append("| name | default | category | meaning |\n|---|---|---|---|\n")
    lines += [f"| `{s.name}` | `{s.default}` | {s.category} | {s.description} |\n" for s in KNOWN_SETTINGS.values()]
    lines.append(
        "\n## Configuration\n\nRead when a process starts: flag, variable, `./tidegate.toml` (or `--config`), "
        "the user's file, default. `tidegate config show --origin` says which won.\n\n"
    )
    lines.append("| key in the file | variable | default | meaning |\n|---|---|---|---|\n")
    for field in FIELDS.values():
        key = f"`{field.name}`" if field.in_files else ""
        lines.append(f"| {key} | `{field.variable}` | `{field.default or ' '}` | {field.description} |\n")
    return "".join(lines)


def _errors() -> str:
    lines = [
        "# Errors\n\n",
        _NOTE,
        "Every problem document and every error object of the CLI carries one of these codes.\n\n",
    ]
    lines.append("| code | HTTP status | exit code | meaning |\n|---|---|---|---|\n")
    for code, cls in sorted(error_classes().items()):
        meaning = (cls.__doc__ or "").splitlines()[0]
        lines.append(f"| `{code}` | {int(STATUS_BY_ERROR[cls])} | {int(EXIT_CODES[cls])} | {meaning} |\n")
    return "".join(lines)


def _words(name: str) -> str:
    return name.lower().replace("_", " ")


if __name__ == "__main__":
    main()
