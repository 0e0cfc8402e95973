"""A store that exists only as a formula: any number of volumes and backups, each with what a real one would say."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from tidegate.format.blocks.compression import Compression
from tidegate.format.cfgs.cfg_metadata import whole_metadata
from tidegate.format.cfgs.object_mark import object_mark
from tidegate.format.cfgs.paths import volume_dir
from tidegate.format.cfgs.times import format_time
from tidegate.format.cfgs.volume_cfg import VolumeCfg
from tidegate.format.cfgs.volume_index import INDEX_NAME, IndexEntry, encode_index, index_entry

BEGINNING = datetime(2026, 1, 1, tzinfo=UTC)
_BLOCK = {"Offset": 0, "BlockChecksum": "0" * 64}


@dataclass(frozen=True)
class Formula:
    """So many volumes with so many backups each."""

    volumes: int
    backups: int

    def volume_name(self, number: int) -> str:
        return f"pvc-{number:08x}-0000-4000-8000-{number:012x}"

    def volume_dirs(self) -> dict[str, int]:
        return {volume_dir(self.volume_name(number)): number for number in range(self.volumes)}

    def backup_name(self, volume: int, backup: int) -> str:
        return f"backup-{volume:08x}{backup:08x}"

    def created(self, volume: int, backup: int) -> datetime:
        return BEGINNING + timedelta(hours=backup, seconds=volume % 3600)

    def labels(self, volume: int) -> dict[str, str]:
        workload = {"podName": f"web-{volume}-0", "workloadName": f"web-{volume}", "workloadType": "StatefulSet"}
        status = {
            "namespace": f"team-{volume % 100}",
            "pvcName": f"data-{volume}",
            "pvName": self.volume_name(volume),
            "pvStatus": "Bound",
            "lastPVCRefAt": "",
            "lastPodRefAt": "",
            "workloadsStatus": [{**workload, "podStatus": "Running"}],
        }
        return {"KubernetesStatus": json.dumps(status), "RecurringJob": ("nightly", "hourly")[volume % 2]}

    def cfg(self, volume: int, backup: int) -> bytes:
        moment = format_time(self.created(volume, backup))
        document = {
            "Name": self.backup_name(volume, backup),
            "VolumeName": self.volume_name(volume),
            "SnapshotName": _snapshot_name(volume, backup),
            "SnapshotCreatedAt": moment,
            "CreatedTime": moment,
            "Size": str(2 * 1024 * 1024),
            "Labels": self.labels(volume),
            "Parameters": {"backup-block-size": "2097152", "backup-mode": "incremental"},
            "IsIncremental": True,
            "CompressionMethod": "lz4",
            "NewlyUploadedDataSize": str(1000 + backup),
            "ReUploadedDataSize": "0",
            "ProcessingBlocks": None,
            "Blocks": [_BLOCK],
            "SingleFile": {"FilePath": ""},
        }
        return json.dumps(document, separators=(",", ":")).encode()

    def volume_cfg(self, volume: int) -> bytes:
        last = self.backups - 1
        return VolumeCfg(
            name=self.volume_name(volume),
            size=10 << 30,
            labels=self.labels(volume),
            created_time=format_time(BEGINNING),
            last_backup_name=self.backup_name(volume, last),
            last_backup_at=format_time(self.created(volume, last)),
            block_count=100,
            compression=Compression.LZ4,
        ).encode()

    def etag(self, volume: int, backup: int) -> str:
        return f"{volume:x}-{backup:x}"

    def index(self, volume: int) -> bytes:
        return encode_index(self.volume_name(volume), self._entries(volume))

    def _entries(self, volume: int) -> Mapping[str, IndexEntry]:
        """From one cfg that was really read: to write and read all of them would take minutes."""
        first, entries = self._entry(volume, 0), {}
        size = len(self.cfg(volume, 0)) - len("1000")
        for backup in range(self.backups):
            name, moment = self.backup_name(volume, backup), self.created(volume, backup)
            seconds = int(moment.timestamp())
            entries[name] = first._replace(
                name=name,
                snapshot_name=_snapshot_name(volume, backup),
                created=seconds,
                snapshot_created=seconds,
                newly_uploaded_size=1000 + backup,
                # Only one number in a cfg has no fixed length.
                mark=self._mark(volume, backup, size + len(str(1000 + backup))),
            )
        last = self.backups - 1
        if entries[self.backup_name(volume, last)] != self._entry(volume, last):
            raise RuntimeError("the formula of the index is not that of the cfgs")
        return entries

    def _entry(self, volume: int, backup: int) -> IndexEntry:
        body = self.cfg(volume, backup)
        metadata = whole_metadata(body, name=self.backup_name(volume, backup), now=BEGINNING)
        entry = index_entry(metadata, self._mark(volume, backup, len(body)))
        if entry is None:
            raise RuntimeError("the formula's backups are finished")
        return entry

    def _mark(self, volume: int, backup: int, size: int) -> int:
        return object_mark(size=size, etag=self.etag(volume, backup), modified_at=BEGINNING)


def _snapshot_name(volume: int, backup: int) -> str:
    return f"nightly-{volume:04x}-{backup:08x}"


INDEX = INDEX_NAME
