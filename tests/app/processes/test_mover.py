"""The mover's own process: what it says of a job that is none."""

import json
import os
import subprocess
import sys

import pytest


@pytest.mark.parametrize("job", ["", "nonsense\n", '{"action": "dance"}\n', '{"action": "upload", "target": 3}\n'])
def test_a_job_that_is_none_is_answered_with_one_error_and_exit_code_2(job):
    mover = subprocess.run(
        [sys.executable, "-m", "tidegate", "mover"], check=False, input=job, capture_output=True, text=True
    )

    (line,) = mover.stdout.splitlines()
    said = json.loads(line)
    assert (said["type"], said["code"]) == ("error", "InvalidInput")
    assert said["message"].startswith("the mover was given no job that it knows: ")
    assert (mover.returncode, mover.stderr) == (2, "")


@pytest.fixture
def job(tmp_path):
    (tmp_path / "store").mkdir()
    (tmp_path / "image").write_bytes(b"x" * 100_000)
    return {
        "action": "upload",
        "target": {"url": f"file://{tmp_path}/store"},
        "store_volume": "shop.db",
        "store_backup": "backup-0123456789abcdef",
        "volume_kind": "image",
        "path": str(tmp_path / "image"),
        "snapshot_name": "s",
        "started_at": "2026-01-01T00:00:00Z",
    }


def converse(job, *orders):
    """The types of all that a mover says which hears these orders, and then nothing more."""
    lines = "".join(json.dumps(line) + "\n" for line in (job, *orders))
    with subprocess.Popen(
        [sys.executable, "-m", "tidegate", "mover"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as mover:
        mover.stdin.write(lines)
        mover.stdin.flush()
        said = []
        for line in mover.stdout:
            said.append(json.loads(line))
            if said[-1]["type"] == "ready" and {"type": "go"} not in orders:
                mover.stdin.close()
    return said


def test_a_mover_moves_nothing_before_it_is_let_go(job, tmp_path):
    *_, ready, last = converse(job)

    assert (ready["type"], last["code"]) == ("ready", "WorkCancelled")
    assert list((tmp_path / "store").iterdir()) == []


@pytest.mark.parametrize(
    "orders",
    [
        [{"type": "go"}],
        [{"type": "bandwidth", "upload": 1_000_000}, {"type": "go"}],
        [{"type": "dance"}, {"type": "bandwidth"}, {"type": "go"}, {"type": "go"}],
    ],
)
def test_a_mover_that_is_let_go_moves_whatever_else_it_was_told(job, orders):
    said = converse(job, *orders)

    assert [line["type"] for line in said if line["type"] != "progress"] == ["ready", "result"]


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"path": "/missing"}, "SourceUnreadable"),
        ({"path": "/missing", "volume_kind": "directory"}, "SourceUnreadable"),
    ],
)
def test_a_source_that_is_missing_is_told_while_the_mover_prepares(job, wrong, code):
    said = converse(job | wrong)

    assert [line["type"] for line in said if line["type"] != "progress"] == ["error"]
    assert said[-1]["code"] == code


def test_a_backup_that_is_missing_is_told_while_the_mover_prepares(job, tmp_path):
    download = {key: value for key, value in job.items() if key not in {"snapshot_name", "started_at"}}

    (said,) = converse(download | {"action": "download", "path": str(tmp_path / "back")})

    assert (said["code"], said["message"]) == (
        "NotFound",
        "cannot find backup backup-0123456789abcdef of volume shop.db in the store",
    )


GREEDY = """
import sys, threading
from tidegate.app.processes.mover import bound_memory
from tidegate.app.processes.workshop import real_workshop
from tidegate.datapath.work import carry_out
from tidegate.model.transfers.mover_job import read_job

job = read_job(sys.stdin.buffer.readline())
bound_memory(job)
carry_out(
    job,
    real_workshop(),
    report=lambda report: print(report.to_json()),
    cancelled=threading.Event(),
    on_ready=lambda _: bytearray(1 << 30),
)
"""


def test_more_memory_than_is_allowed_is_a_sentence_and_not_a_starving_machine(job):
    """The data path keeps to the limit by itself; this is what stops it if it does not."""
    mover = subprocess.run(
        [sys.executable, "-c", GREEDY],
        check=True,
        input=json.dumps(job | {"memory_bytes": 128 * 1024 * 1024}) + "\n",
        capture_output=True,
        text=True,
    )

    last = json.loads(mover.stdout.splitlines()[-1])
    assert (last["code"], last["message"]) == (
        "OutOfMemory",
        "more memory was needed than this process may use (for movers: data-mover-memory-limit)",
    )


def test_the_least_memory_that_can_be_set_is_enough_for_a_backup_and_a_restore(job, tmp_path):
    (tmp_path / "image").write_bytes(os.urandom(40_000_000))
    least = {"memory_bytes": 128 * 1024 * 1024}
    download = {key: value for key, value in job.items() if key not in {"snapshot_name", "started_at"}}

    up = converse(job | least, {"type": "go"})
    down = converse(download | least | {"action": "download", "path": str(tmp_path / "back")}, {"type": "go"})

    assert (up[-1]["type"], down[-1]["type"]) == ("result", "result")
    assert (tmp_path / "back").read_bytes() == (tmp_path / "image").read_bytes()
