"""The core that a sync leaves to whoever looks at lists: real processes, and what the kernel says of their threads."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tidegate.app.processes.sync_cores import SyncCores, all_but_one, confine

ALL = os.sched_getaffinity(0)

needs_two = pytest.mark.skipif(len(ALL) < 2, reason="with one core there is none to leave")

BUSY = "import sys, threading; threading.Thread(target=sys.stdin.read).start(); print('up', flush=True)"


@pytest.fixture
def process():
    """With two threads at least; it ends with its standard input."""
    with subprocess.Popen([sys.executable, "-c", BUSY], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"up\n"
        yield process
        process.stdin.close()


def cores_of(process):
    threads = [int(thread.name) for thread in Path(f"/proc/{process.pid}/task").iterdir()]
    assert len(threads) >= 2
    (cores,) = {frozenset(os.sched_getaffinity(thread)) for thread in threads}
    return cores


@needs_two
async def test_a_sync_has_all_cores_until_somebody_looks_then_one_fewer_in_every_thread(process):
    cores = SyncCores(lambda: process.pid)
    assert cores_of(process) == ALL

    cores.make_way()

    assert cores_of(process) == all_but_one(ALL)
    assert len(all_but_one(ALL)) == len(ALL) - 1


@needs_two
async def test_it_has_them_back_when_nobody_has_looked_for_a_while(process):
    cores = SyncCores(lambda: process.pid, quiet_seconds=0.01)
    cores.make_way()

    over = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_later(cores.quiet_seconds, over.set_result, None)  # set later, so it ends later
    await over
    assert cores_of(process) == ALL

    cores.make_way()
    assert cores_of(process) == all_but_one(ALL), "and makes way again"


@needs_two
async def test_each_look_begins_the_wait_anew(process):
    cores = SyncCores(lambda: process.pid, quiet_seconds=3600)
    cores.make_way()
    cores._looked_at -= 7200

    cores.make_way()
    cores._return()  # the timer of the first look

    assert cores_of(process) == all_but_one(ALL)


@needs_two
async def test_a_process_that_is_started_while_somebody_looks_makes_way_from_the_start(process):
    started: list[int] = []
    cores = SyncCores(lambda: started[-1] if started else None)
    cores.make_way()
    assert cores_of(process) == ALL, "it is not about this one yet"

    started.append(process.pid)
    cores.settle()

    assert cores_of(process) == all_but_one(ALL)


async def test_a_process_that_is_gone_is_no_reason_to_refuse_a_look(process):
    cores = SyncCores(lambda: process.pid)
    process.stdin.close()
    process.wait()

    cores.make_way()


def test_cores_that_the_kernel_does_not_give_are_no_reason_either(process):
    with pytest.raises(OSError, match="Invalid argument"):
        os.sched_setaffinity(process.pid, {1023})

    confine(process.pid, {1023})

    assert cores_of(process) == ALL


@pytest.mark.parametrize(("has", "may_use"), [({0, 1, 2, 3}, {1, 2, 3}), ({2, 3}, {3}), ({5}, {5})])
def test_all_but_one_of_the_cores_that_there_are(has, may_use):
    assert all_but_one(has) == may_use
