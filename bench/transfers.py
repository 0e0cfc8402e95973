"""What a transfer costs beside its bytes: many small volumes, backed up and restored by one command each.

A real server, real movers, at most four of them moving at once. "In all" is the command's time from its start to its
end, divided by the number of volumes; "beside the bytes" has the same work subtracted, done by one process alone.
"""

import random
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from bench.rows import Row
from tidegate.app.processes.workshop import real_workshop
from tidegate.datapath.work import carry_out
from tidegate.model.backups.existing_data import ExistingData
from tidegate.model.transfers.mover_job import DownloadJob, ErrorReport, TargetAccess, UploadJob
from tidegate.model.volumes.volume_kind import VolumeKind
from tidegate.testing.machine.server_process import ServerProcess

COUNTS = (50, 100, 200)
NODE_LOAD = 4
VOLUME_BYTES = 1024 * 1024
TARGET_MS = 60.0
# As long as twice as many volumes take about twice as long: what is left of the command itself makes it less.
MOST_GROWTH = 2.2


def run() -> Sequence[Row]:
    rows: list[Row] = []
    seconds: dict[str, list[float]] = {"backup": [], "restore": []}
    for count in COUNTS:
        with tempfile.TemporaryDirectory() as place:
            taken = _measure(Path(place), count)
        alone = taken.pop("backup alone"), taken.pop("restore alone")
        for (what, took), bytes_alone in zip(taken.items(), alone, strict=True):
            seconds[what].append(took)
            last = count == COUNTS[-1]
            rows.append(Row(f"{what} of {count} volumes, in all, each", took / count * 1000, "ms"))
            rows.append(
                Row(
                    f"{what} of {count} volumes, beside the bytes, each",
                    max(0.0, took - bytes_alone) / count * 1000,
                    "ms",
                    target=TARGET_MS if last else None,
                    better="less",
                )
            )
    for what, taken_seconds in seconds.items():
        growth = taken_seconds[-1] / taken_seconds[-2]
        rows.append(Row(f"{what}, 200 volumes against 100", growth, "x", target=MOST_GROWTH, better="less"))
    return rows


def _measure(place: Path, count: int) -> dict[str, float]:
    volumes = _make_volumes(place / "volumes", count)
    server = ServerProcess(place)
    server.start()
    try:
        _set_up(server, place, volumes)
        return {
            "backup": _seconds(
                lambda: server.tidegate("backup", "create", "b", "--include-namespaces", "bench", "--wait")
            ),
            "restore": _seconds(
                lambda: server.tidegate(
                    "restore", "create", "--from-backup", "b", "--to", str(place / "back"), "--wait"
                )
            ),
            **_alone(place, volumes),
        }
    finally:
        server.stop()


def _make_volumes(place: Path, count: int) -> list[Path]:
    place.mkdir()
    chance = random.Random(5)
    volumes = [place / f"v{number:03}" for number in range(count)]
    for volume in volumes:
        volume.write_bytes(chance.randbytes(VOLUME_BYTES))
    return volumes


def _set_up(server: ServerProcess, place: Path, volumes: Sequence[Path]) -> None:
    (place / "store").mkdir()
    settings = {
        "load-concurrency": f'{{"globalConfig": {NODE_LOAD}}}',
        "item-block-worker-count": str(2 * NODE_LOAD),
        "concurrent-backup-restore-limit": str(2 * NODE_LOAD),
    }
    with server.client() as client:
        for name, value in settings.items():
            body = {"metadata": {"name": name}, "spec": {"value": value}}
            client.put(f"/v1/settings/{name}", json=body).raise_for_status()
        target = {"metadata": {"name": "disk"}, "spec": {"url": f"file://{place}/store"}}
        client.post("/v1/backuptargets", json=target).raise_for_status()
        for volume in volumes:
            body = {"metadata": {"name": volume.name, "namespace": "bench"}, "spec": {"image": str(volume)}}
            client.post("/v1/volumes", json=body).raise_for_status()


def _alone(place: Path, volumes: Sequence[Path]) -> dict[str, float]:
    """The bytes' own time: the same jobs in this process, one after the other."""
    (place / "alone").mkdir()
    (place / "alone-back").mkdir()
    access, shop = TargetAccess(url=f"file://{place}/alone"), real_workshop()

    def carry(job: UploadJob | DownloadJob) -> None:
        said: list[object] = []
        carry_out(job, shop, report=said.append, cancelled=threading.Event())
        if isinstance(said[-1], ErrorReport):
            raise RuntimeError(said[-1].message)  # noqa: TRY004  # it is what a mover said

    def backup() -> None:
        for volume in volumes:
            carry(
                UploadJob(
                    target=access,
                    store_volume=f"bench.{volume.name}",
                    store_backup="backup-0123456789abcdef",
                    volume_kind=VolumeKind.IMAGE,
                    path=str(volume),
                    snapshot_name="s",
                    started_at=shop.clock.now(),
                )
            )

    def restore() -> None:
        for volume in volumes:
            carry(
                DownloadJob(
                    target=access,
                    store_volume=f"bench.{volume.name}",
                    store_backup="backup-0123456789abcdef",
                    volume_kind=VolumeKind.IMAGE,
                    path=str(place / "alone-back" / volume.name),
                    existing_data=ExistingData.NONE,
                )
            )

    return {"backup alone": _seconds(backup), "restore alone": _seconds(restore)}


def _seconds(work: Callable[[], object]) -> float:
    began = time.monotonic()
    work()
    return time.monotonic() - began
