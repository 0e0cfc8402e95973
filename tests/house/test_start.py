"""What a process loads before it works: each of these libraries takes a part of the second that a person waits.

Never judged by time, which a busy machine bends.
"""

import subprocess
import sys

import pytest

SERVER = {"fastapi", "starlette", "uvicorn", "prometheus_client", "sqlite3", "structlog"}
COMMAND_LINE = {"typer", "rich", "yaml", "httpx2"}
CLIENTS_OF_STORES = {"obstore", "cryptography"}
KINDS_OF_VOLUMES = {
    f"tidegate.volumes.{name}"
    for name in ("trees.directory", "trees.sink", "images.image", "images.sink", "images.device_sink")
}

# Those that no other noun needs for itself.
NOUNS = {
    "audit": "access.audit",
    "backup": "backups.backup",
    "queue": "queue.queue",
    "schedule": "schedules.schedule",
    "store": "stores.store",
    "version": "server.version",
    "volume": "volumes.volume",
}

HEAVY = [
    ("tidegate.app.processes.mover", SERVER | COMMAND_LINE | CLIENTS_OF_STORES | KINDS_OF_VOLUMES | {"pydantic"}),
    ("tidegate.app.main", SERVER | COMMAND_LINE | CLIENTS_OF_STORES | {"pydantic"}),
    ("tidegate.app.commands", SERVER | CLIENTS_OF_STORES | {"pydantic", "rich"}),
    ("tidegate.model.transfers.mover_job", SERVER | COMMAND_LINE | CLIENTS_OF_STORES | {"pydantic"}),
]


@pytest.mark.parametrize(("module", "unwanted"), HEAVY, ids=[module for module, _ in HEAVY])
def test_a_process_loads_no_library_that_it_does_not_need(module, unwanted):
    assert unwanted & loaded_by(f"import {module}") == set()


@pytest.mark.parametrize(
    ("words", "nouns"),
    [
        (["backup", "get"], {"backup"}),
        (["--server", "queue", "volume", "get"], {"volume"}),
        (["version"], {"version"}),
        (["bakcup", "get"], NOUNS),
        (["--help", "backup"], NOUNS),
        ([], NOUNS),
    ],
)
def test_a_command_loads_its_own_noun_and_no_other(words, nouns):
    loaded = loaded_by(f"from tidegate.app.commands import build_commands; build_commands({words})")

    assert {noun for noun, place in NOUNS.items() if f"tidegate.cli.{place}" in loaded} == set(nouns)


def test_a_nursery_loads_every_kind_of_volume_so_that_no_mover_has_to():
    loaded = loaded_by(
        "import importlib, tidegate.app.processes.nursery as n; [*map(importlib.import_module, n._LATE)]"
    )

    assert loaded > KINDS_OF_VOLUMES


def loaded_by(script):
    command = [sys.executable, "-c", f"{script}; import sys; print(*sys.modules)"]
    return set(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split())
