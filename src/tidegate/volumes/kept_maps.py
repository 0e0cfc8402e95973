"""Kept maps as small files in a directory of this machine: one for each volume in each store."""

import contextlib
import json
import os
import tempfile
from dataclasses import asdict

from tidegate.format.blocks.checksum import checksum
from tidegate.ports.kept_maps import KeptMap

_LARGEST = 64 * 1024


class DirectoryKeptMaps:
    """Keeps the KeptMaps' promise. The directory is made when there is something to keep, for its owner alone."""

    def __init__(self, path: str) -> None:
        self._path = path

    def find(self, target: str, volume: str) -> KeptMap | None:
        """See KeptMaps."""
        try:
            with open(self._file(target, volume), "rb") as file:
                found = json.loads(file.read(_LARGEST))
            kept = KeptMap(found["backup"], found["created_time"], found["proof"])
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None
        return kept if all(isinstance(field, str) for field in asdict(kept).values()) else None

    def keep(self, target: str, volume: str, kept: KeptMap) -> None:
        """See KeptMaps. Replaced in one step; torn by a power cut it is not valid JSON, and so nothing."""
        with contextlib.suppress(OSError):
            os.makedirs(self._path, mode=0o700, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=self._path)
            with open(handle, "w", encoding="ascii") as file:
                json.dump(asdict(kept), file)
            os.replace(temporary, self._file(target, volume))

    def _file(self, target: str, volume: str) -> str:
        return os.path.join(self._path, f"{checksum(json.dumps([target, volume]).encode())}.json")
