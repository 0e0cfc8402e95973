import subprocess
import sys
from pathlib import Path

import pytest

import tidegate
from tidegate.model.backups.backup import Backup
from tidegate.resources.sqlite import SqliteStore
from tidegate.testing.clock import ManualClock
from tidegate.testing.identity import counting_ids

# Says "name count" for each update once the store has acknowledged it, and never stops by itself.
WRITER = """
import asyncio, sys
from pathlib import Path
from tidegate.resources.sqlite import SqliteStore
from tidegate.testing.clock import ManualClock
from tidegate.testing.identity import counting_ids
from tidegate.testing.resources.resources import a_backup

async def keep_writing(store, name):
    backup = await store.create(a_backup(name))
    while True:
        backup = await store.update_status(backup.with_status(warnings=backup.status.warnings + 1))
        print(name, backup.status.warnings, backup.metadata.resource_version, flush=True)

async def main():
    store = await SqliteStore.open(Path(sys.argv[1]), clock=ManualClock(), new_id=counting_ids())
    await asyncio.gather(*(keep_writing(store, f"b{number}") for number in range(8)))

asyncio.run(main())
"""


def acknowledged_before_the_kill(path: Path, *, at_least: int) -> list[tuple[str, int, int]]:
    source = str(Path(tidegate.__file__).parents[1])
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True, env={"PYTHONPATH": source}
    ) as writer:
        assert writer.stdout is not None
        lines = [writer.stdout.readline() for _ in range(at_least)]
        writer.kill()
        lines += writer.stdout.readlines()
    # The last line may be cut off; it was not said.
    told = [line.split() for line in lines if line.endswith("\n")]
    return [(name, int(count), int(version)) for name, count, version in told]


@pytest.mark.parametrize("at_least", [1, 50, 333])
async def test_killing_the_process_loses_no_acknowledged_write(tmp_path: Path, at_least: int) -> None:
    acknowledged = acknowledged_before_the_kill(tmp_path / "state.db", at_least=at_least)
    newest = {name: count for name, count, _ in acknowledged}

    store = await SqliteStore.open(tmp_path / "state.db", clock=ManualClock(), new_id=counting_ids("later"))
    page = await store.list(Backup)
    await store.close()

    found = {backup.name: backup.status.warnings for backup in page.items}
    assert all(found[name] >= count for name, count in newest.items())
    assert int(page.resource_version) >= max(version for _, _, version in acknowledged)
