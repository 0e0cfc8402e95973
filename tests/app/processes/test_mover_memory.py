"""Real movers stay below the memory that they were given, with blocks of both sizes, to and from a directory and S3."""

import json
import os
import subprocess
import sys

import pytest

from tidegate.app.machine.clock import SystemClock
from tidegate.model.backups.existing_data import ExistingData
from tidegate.model.transfers.mover_job import DownloadJob, TargetAccess, UploadJob, read_report
from tidegate.model.volumes.volume_kind import VolumeKind
from tidegate.testing.stores.rclone_server import RcloneServer

MIB = 1024 * 1024
LIMIT = 128 * MIB


@pytest.fixture(params=["directory", "s3"])
def target(request, tmp_path):
    if request.param == "directory":
        (tmp_path / "store").mkdir()
        yield TargetAccess(url=f"file://{tmp_path}/store")
        return
    server = RcloneServer(tmp_path / "server").start()
    credentials = {
        "AWS_ACCESS_KEY_ID": server.key,
        "AWS_SECRET_ACCESS_KEY": server.secret,
        "AWS_ENDPOINTS": server.endpoint,
    }
    yield TargetAccess(url="s3://bucket-001@eu/", credentials=credentials)
    server.stop()


PROGRAM = """
import sys, threading
from tidegate.app.processes.mover import bound_memory
from tidegate.app.processes.workshop import real_workshop
from tidegate.datapath.work import carry_out
from tidegate.model.transfers.mover_job import read_job
job = read_job(sys.stdin.buffer.readline())
bound_memory(job)
carry_out(job, real_workshop(), report=lambda report: print(report.to_json()), cancelled=threading.Event())
print(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1])
"""


def carried_out(job, tmp_path):
    """The last words of a real process that does a mover's work, and the most memory that it ever had."""
    mover = subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "TIDEGATE_MAPS_DIR": str(tmp_path / "maps")},
    )
    mover.stdin.write(job.to_json().encode() + b"\n")
    mover.stdin.flush()
    # As the process itself counts it: what the system tells of a child begins with the memory of its parent.
    *_, last, kib = mover.stdout
    mover.stdin.close()
    mover.stdout.close()
    mover.wait()
    return read_report(last), int(kib) * 1024


def jobs(target, tmp_path, memory, *, block_mib=16):
    shared = {"target": target, "store_volume": "vol", "store_backup": "backup-1", "volume_kind": VolumeKind.IMAGE}
    upload = UploadJob(
        **shared,
        path=str(tmp_path / "image"),
        snapshot_name="s",
        started_at=SystemClock().now(),
        block_mib=block_mib,
        memory_bytes=memory,
    )
    download = DownloadJob(**shared, path=str(tmp_path / "back"), existing_data=ExistingData.NONE, memory_bytes=memory)
    return upload, download


@pytest.mark.parametrize("block_mib", [2, 16])
def test_a_mover_stays_below_its_memory_limit(target, tmp_path, block_mib):
    """velero#8582, #8138, #6955, #5988: gigabytes, and never given back. What a mover has goes with it."""
    with (tmp_path / "image").open("wb") as file:
        for _ in range(10):
            file.write(os.urandom(16 * MIB))
    upload, download = jobs(target, tmp_path, LIMIT, block_mib=block_mib)

    sent, used_to_send = carried_out(upload, tmp_path)
    fetched, used_to_fetch = carried_out(download, tmp_path)

    assert (sent.type, fetched.type) == ("result", "result"), json.dumps([str(sent), str(fetched)])
    assert used_to_send < LIMIT
    assert used_to_fetch < LIMIT
    assert (tmp_path / "back").read_bytes() == (tmp_path / "image").read_bytes()


def test_a_mover_that_is_given_too_little_says_how_much_it_needs_and_leaves_no_trace(tmp_path):
    (tmp_path / "image").write_bytes(b"something")
    (tmp_path / "store").mkdir()
    upload, _ = jobs(TargetAccess(url=f"file://{tmp_path}/store"), tmp_path, 100 * MIB)

    said, _ = carried_out(upload, tmp_path)

    assert (said.code, "the least is 125 MiB" in said.message) == ("Refused", True), said.message
    assert [path for path in (tmp_path / "store").rglob("*") if path.is_file()] == []
