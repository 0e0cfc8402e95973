"""Deletes in a store that takes 750 ms for each answer: one of a thousand backups, half of them at once, the volume."""

import sys
import threading
import time
from collections.abc import Sequence

from bench.far_store import CheapStore, far_store
from bench.rows import Row
from bench.scale import SCALE, show
from tidegate.app.processes.workshop import real_workshop
from tidegate.datapath.crew import work_through
from tidegate.datapath.work import carry_out
from tidegate.model.transfers.mover_job import RemoveJob, ResultReport, TargetAccess
from tidegate.objects.open import open_store
from tidegate.ports.mover_host import Report
from tidegate.testing.stores.stored_samples import backup_name, volume_objects

_SECONDS = 0.75
_BACKUPS = max(20, int(1000 * SCALE))
_VOLUME = "pvc-0001"


def run() -> Sequence[Row]:
    with far_store(_SECONDS) as store:
        access = TargetAccess(url="s3://bucket@us-east-1/deletes/", credentials=dict(store.credentials))
        objects = open_store(access)
        every = volume_objects(_VOLUME, backups=_BACKUPS)
        work_through(every, lambda one: objects.put(*one), threads=64)
        store.seen()
        in_flight = objects.requests_in_flight
        names = [backup_name(number) for number in range(_BACKUPS)]
        half = names[1 : _BACKUPS // 2]
        rows = []
        for what, job in (
            (f"deleting one of {_BACKUPS:,} backups", _job(access, names[0])),
            (f"deleting {len(half):,} more at once", _job(access, *half)),
            (f"deleting the volume with {_BACKUPS - len(half) - 1:,} backups", _job(access, whole_volume=True)),
        ):
            rows += _measured(what, job, store, in_flight)
        left = list(objects.list_all("backupstore"))
        if left:
            raise RuntimeError(f"{len(left)} objects are left, such as {left[0].key}")
    return show(rows)


def _job(access: TargetAccess, *backups: str, whole_volume: bool = False) -> RemoveJob:
    return RemoveJob(target=access, store_volume=_VOLUME, store_backups=backups, whole_volume=whole_volume)


def _measured(what: str, job: RemoveJob, store: CheapStore, in_flight: int) -> list[Row]:
    """With its lock, which alone takes some answers after each other."""
    cancelled, said = threading.Event(), list[Report]()
    began = time.perf_counter()
    carry_out(job, real_workshop(pause=cancelled.wait), report=said.append, cancelled=cancelled)
    seconds = time.perf_counter() - began
    if not isinstance(said[-1], ResultReport):
        raise TypeError(f"{what} failed: {said[-1]}")
    requests = store.seen()["requests"]
    floor = sum(requests.values()) / in_flight * _SECONDS
    print(f"{what}: {requests}, {in_flight} in flight, floor {floor:.1f} s", file=sys.stderr)
    one_by_one = sum(requests.values()) * _SECONDS
    return [
        Row(f"{what}, 750 ms for each answer", seconds, "s"),
        Row(f"{what}, requests", sum(requests.values()), ""),
        Row(f"{what}, times quicker than one request after the other", one_by_one / seconds, "times"),
    ]
