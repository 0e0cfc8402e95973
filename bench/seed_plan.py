"""The test plan of the catalogue's design at its full size: a real S3 server behind 750 ms, a real server process.

1,000 volumes with 1,000 backups each, with the index objects that our own backups leave; every list is asked for over
HTTP. The blocks of the volumes that are only listed are left out: nobody would look at them.
"""

import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2

from bench.rows import Row
from bench.scale import BENCH_DIR, SCALE, show
from tidegate.catalogue.cfg_reading import mark_of
from tidegate.format.cfgs.cfg_metadata import whole_metadata
from tidegate.format.cfgs.paths import backup_cfg_key, backup_name_of, backups_dir, volume_dir
from tidegate.format.cfgs.volume_index import IndexEntry, encode_index, index_entry, index_key
from tidegate.model.transfers.mover_job import TargetAccess
from tidegate.objects.open import open_store
from tidegate.ports.object_store import ObjectStore
from tidegate.testing.machine.server_process import ServerProcess
from tidegate.testing.stores.distance import Distance
from tidegate.testing.stores.rclone_server import RcloneServer
from tidegate.testing.stores.stored_samples import backup_name, volume_name, volume_objects, write_volume

_SECONDS = 0.75
_VOLUMES = max(10, int(1000 * SCALE))
_BACKUPS = max(10, int(1000 * SCALE))
_GONE, _KEPT, _BY_HAND = (volume_name(number) for number in (1, 2, 3))
_PATIENCE_SECONDS = 1800


def run() -> Sequence[Row]:
    with tempfile.TemporaryDirectory(dir=BENCH_DIR) as directory:
        rclone = RcloneServer(Path(directory))
        bucket = rclone.new_bucket()
        _fill(rclone.root / "buckets" / bucket / "backups")
        server = ServerProcess(Path(directory))
        try:
            rclone.start()
            near = open_store(TargetAccess(url=_url(bucket), credentials=rclone.credentials()))
            _write_indexes(near)
            with Distance(rclone.endpoint, seconds=_SECONDS) as way:
                server.start()
                return show(_steps(server, near, bucket, rclone.credentials(AWS_ENDPOINTS=way.url)))
        finally:
            server.stop()
            rclone.stop()


def _url(bucket: str) -> str:
    return f"s3://{bucket}@us-east-1/backups/"


def _fill(root: Path) -> None:
    for number in range(_VOLUMES):
        name = volume_name(number)
        write_volume(root, name, backups=_BACKUPS, blocks=name in {_GONE, _KEPT, _BY_HAND})
        if number % 100 == 99:
            print(f"{number + 1} volumes written", file=sys.stderr)


def _write_indexes(near: ObjectStore) -> None:
    """As our own backups would have left them."""
    bodies = {key: body for key, body in volume_objects(_KEPT, backups=_BACKUPS) if backup_name_of(key)}
    for number in range(_VOLUMES):
        name, entries = volume_name(number), dict[str, IndexEntry]()
        for info in near.list_level(backups_dir(name)).objects:
            backup = backup_name_of(info.key)
            if backup:
                body = bodies[backup_cfg_key(_KEPT, backup)].replace(_KEPT.encode(), name.encode())
                if entry := index_entry(whole_metadata(body, name=backup, now=info.modified_at), mark_of(info)):
                    entries[backup] = entry
        near.put(index_key(name), encode_index(name, entries))


def _steps(server: ServerProcess, near: ObjectStore, bucket: str, credentials: dict[str, str]) -> list[Row]:
    secret = server.state / "secrets" / "far"
    secret.parent.mkdir(mode=0o700, exist_ok=True)
    secret.write_text("".join(f"{key}={value}\n" for key, value in credentials.items()))
    secret.chmod(0o600)
    rows = []
    with server.client() as client, _memory_watched(server) as memory:
        far = _Far(client)
        options = ("--credential-secret", "far", "--poll-interval", "30s")
        began = time.perf_counter()
        server.tidegate("target", "create", "far", _url(bucket), *options)
        _until(lambda: far.synced_at() != "")
        rows.append(Row(f"first sync of {_VOLUMES:,} x {_BACKUPS:,}", time.perf_counter() - began, "s", 180, "less"))

        seconds, volumes = _timed(far.volumes)
        _expect(len(volumes) == _VOLUMES, f"{len(volumes)} volumes are listed")
        rows.append(Row("1: list of all volumes, the first page", seconds * 1000, "ms"))
        seconds, backups = _timed(lambda: far.backups(_KEPT))
        _expect(len(backups) == _BACKUPS, f"{len(backups)} backups are listed")
        rows.append(Row("2: list of all backups of a volume", seconds * 1000, "ms"))

        rows += far.deleted("3: a volume", _GONE, lambda: near.list_all(volume_dir(_GONE)))
        old = backup_name(3)
        rows += far.deleted("4: a backup", _KEPT, lambda: _cfg_of(near, old), backup=old)

        for info in list(near.list_all(volume_dir(_BY_HAND))):
            near.delete(info.key)
        new = backup_name(4)
        near.delete(backup_cfg_key(_KEPT, new))
        seconds, _ = _timed(lambda: _until(lambda: _BY_HAND not in far.volumes() and new not in far.backups(_KEPT)))
        rows.append(Row("5, 6: deleted by hand, gone from the lists after the poll (of 30 s)", seconds, "s"))
        _expect(len(far.volumes()) == _VOLUMES - 2, "another volume is missing")
        _expect(len(far.backups(_KEPT)) == _BACKUPS - 2, "another backup is missing")
    rows.append(
        Row("memory of the server and its syncs during all of it", max(memory), "MiB", target=400, better="less")
    )
    return rows


def _cfg_of(near: ObjectStore, name: str) -> Iterator[object]:
    return (info for info in near.list_all(backups_dir(_KEPT)) if backup_name_of(info.key) == name)


class _Far:
    """The server's lists, as a client of Longhorn asks for them."""

    def __init__(self, client: httpx2.Client) -> None:
        self._client = client

    def synced_at(self) -> str:
        (target,) = self._get("/v1/backuptargets")["data"]
        return str(target["status"].get("lastSyncedAt") or "")

    def volumes(self) -> set[str]:
        return {one["name"] for one in self._get("/v1/backupvolumes")["data"]}

    def backups(self, volume: str) -> set[str]:
        answer = self._client.get(f"/v1/backupvolumes/{volume}", params={"action": "backupList"})
        return set() if answer.status_code == 404 else {one["name"] for one in answer.json()["data"]}

    def deleted(self, what: str, volume: str, left: Callable[[], Iterator[object]], *, backup: str = "") -> list[Row]:
        """How long until it is gone from the list, and until it is gone from the store."""
        path = f"/v1/backupvolumes/{volume}"
        began = time.perf_counter()
        if backup:
            query = {"action": "backupDelete"}
            answer = self._client.request("DELETE", path, params=query, json={"names": [backup]})
            listed = backup in self.backups(volume)
        else:
            answer = self._client.delete(path)
            listed = volume in self.volumes()
        at_once = time.perf_counter() - began
        _expect(answer.is_success and not listed, f"{what}: {answer.text}")
        seconds, _ = _timed(lambda: _until(lambda: not any(True for _ in left())))
        return [
            Row(f"{what} deleted and gone from the list", at_once * 1000, "ms"),
            Row(f"{what} deleted and gone from the store", seconds, "s"),
        ]

    def _get(self, path: str) -> dict[str, Any]:
        answer = self._client.get(path)
        answer.raise_for_status()
        found: dict[str, Any] = answer.json()
        return found


def _timed(do: Callable[[], Any]) -> tuple[float, Any]:
    began = time.perf_counter()
    found = do()
    return time.perf_counter() - began, found


def _until(is_so: Callable[[], bool]) -> None:
    end = time.perf_counter() + _PATIENCE_SECONDS
    while not is_so():
        _expect(time.perf_counter() < end, f"not so within {_PATIENCE_SECONDS} seconds")
        time.sleep(0.5)


def _expect(is_so: object, otherwise: str) -> None:
    if not is_so:
        raise RuntimeError(otherwise)


def _resident_mib(pid: int) -> float:
    status = (Path("/proc") / str(pid) / "status").read_text()
    (line,) = (line for line in status.splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


@contextmanager
def _memory_watched(server: ServerProcess) -> Iterator[list[float]]:
    """What the server and its process for syncs hold together, in MiB, looked at all the time."""
    seen, stop = [0.0], threading.Event()
    process = server.process
    if process is None:
        raise RuntimeError("no server")

    def watch() -> None:
        syncing = server.wait_for_log("process for syncs started")["pid"]
        while not stop.wait(0.5):
            seen.append(sum(map(_resident_mib, (process.pid, syncing))))

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        yield seen
    finally:
        stop.set()
        watching.join()
