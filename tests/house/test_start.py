"""What a process loads before it works: each of these libraries takes a part of the second that a person waits.

Never judged by time, which a busy machine bends.
"""

import subprocess
import sys

import pytest

SERVER = {"fastapi", "starlette", "uvicorn", "prometheus_client", "sqlite3", "structlog"}
COMMAND_LINE = {"typer", "rich", "yaml", "httpx2"}
CLIENTS_OF_STORES = {"obstore", "cryptography"}

HEAVY = [
    ("tidegate.app.mover", SERVER | COMMAND_LINE | CLIENTS_OF_STORES | {"pydantic"}),
    ("tidegate.app.main", SERVER | COMMAND_LINE | CLIENTS_OF_STORES | {"pydantic"}),
    ("tidegate.app.commands", SERVER | CLIENTS_OF_STORES | {"pydantic", "rich"}),
    ("tidegate.model.mover_job", SERVER | COMMAND_LINE | CLIENTS_OF_STORES | {"pydantic"}),
]


@pytest.mark.parametrize(("module", "unwanted"), HEAVY, ids=[module for module, _ in HEAVY])
def test_a_process_loads_no_library_that_it_does_not_need(module, unwanted):
    script = f"import sys, {module}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout.split()

    assert unwanted & set(loaded) == set()
