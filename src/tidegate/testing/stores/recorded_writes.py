"""A directory store that records each change of its files, and directories as they were after any number of them."""

import os
import shutil
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from tidegate.objects.directory import DirectoryObjects


class Change(StrEnum):
    """One way in which a writer changes the files of a store."""

    BEGIN = "begin"
    """Half of the object lies under a temporary name."""
    PUT = "put"
    """The object has its name."""
    DELETE = "delete"
    FLUSH = "flush"
    REMOVE_EMPTY = "remove empty"


class Loss(StrEnum):
    """What ends the writer, and with it what the directory may lose."""

    KILL = "kill"
    """The process dies: every change that was made stays."""
    POWER_CUT = "power cut"
    """Files that were written lazily and not flushed are gone."""
    TORN_POWER_CUT = "torn power cut"
    """Files that were written lazily and not flushed have their names, and nothing in them."""


@dataclass(frozen=True)
class Step:
    """One change of one file or directory."""

    change: Change
    key: str = ""
    body: bytes = b""
    lazily: bool = False

    def __str__(self) -> str:
        return f"{self.change} {self.key.rpartition('/')[2]}".strip()


class RecordedDirectory(DirectoryObjects):
    """A DirectoryObjects whose writes come one after the other, each with the steps of which it consists."""

    def __init__(self, root: str) -> None:
        super().__init__(root)
        self.steps: list[Step] = []
        self._one_at_a_time = threading.RLock()

    def put(self, key: str, body: bytes, *, lazily: bool = False) -> None:
        """See ObjectStore."""
        with self._one_at_a_time:
            super().put(key, body, lazily=lazily)
            self._put(key, body, lazily=lazily)

    def put_if_absent(self, key: str, body: bytes, *, lazily: bool = False) -> bool:
        """See ObjectStore."""
        with self._one_at_a_time:
            created = super().put_if_absent(key, body, lazily=lazily)
            if created:
                self._put(key, body, lazily=lazily)
            return created

    def flush(self) -> None:
        """See ObjectStore."""
        with self._one_at_a_time:
            super().flush()
            self.steps.append(Step(Change.FLUSH))

    def delete(self, key: str) -> None:
        """See ObjectStore."""
        with self._one_at_a_time:
            super().delete(key)
            self.steps.append(Step(Change.DELETE, key))

    def remove_empty(self, prefix: str) -> None:
        """See KeepsUnfinished."""
        with self._one_at_a_time:
            super().remove_empty(prefix)
            self.steps.append(Step(Change.REMOVE_EMPTY, prefix))

    def _put(self, key: str, body: bytes, *, lazily: bool) -> None:
        self.steps.append(Step(Change.BEGIN, key, body[: len(body) // 2]))
        self.steps.append(Step(Change.PUT, key, body, lazily))


def directories_after(steps: list[Step], *, before: Path, room: Path, loss: Loss) -> Iterator[tuple[list[Step], Path]]:
    """Every prefix of the steps, the empty and the whole one included, with the directory that it leaves.

    `before` is the directory before the first step; `room` is an empty place for copies. A directory is only yielded
    where it differs from what a kill leaves, so that power cuts do not repeat kills.
    """
    for count in range(len(steps) + 1):
        done = steps[:count]
        lost = _unflushed(done) if loss is not Loss.KILL else {}
        if loss is not Loss.KILL and not lost:
            continue
        directory = room / f"{loss.name.lower()}-{count}"
        shutil.copytree(before, directory)
        for step in done:
            _apply(step, directory)
        for key in lost:
            (directory / key).unlink()
            if loss is Loss.TORN_POWER_CUT:
                (directory / key).touch()
        yield done, directory
        shutil.rmtree(directory)


def grow_old(directory: Path, *, seconds: float) -> None:
    """Let every file look as if its writer had been silent for so long."""
    for path in directory.rglob("*"):
        written_at = path.stat().st_mtime
        os.utime(path, (written_at - seconds, written_at - seconds))


def _unflushed(steps: list[Step]) -> dict[str, None]:
    """Keys that were put lazily, and neither flushed nor deleted since, in their order."""
    found: dict[str, None] = {}
    for step in steps:
        match step.change:
            case Change.FLUSH:
                found = {}
            case Change.PUT if step.lazily:
                found[step.key] = None
            case Change.PUT | Change.DELETE:
                found.pop(step.key, None)
    return found


def _apply(step: Step, root: Path) -> None:
    path, half = root / step.key, root / f"{step.key}.tmp.0123456789abcdef"
    match step.change:
        case Change.BEGIN:
            path.parent.mkdir(parents=True, exist_ok=True)
            half.write_bytes(step.body)
        case Change.PUT:
            half.write_bytes(step.body)
            half.rename(path)
        case Change.DELETE:
            path.unlink(missing_ok=True)
            half.unlink(missing_ok=True)
        case Change.REMOVE_EMPTY:
            for directory, _, _ in os.walk(path, topdown=False):
                if not any(Path(directory).iterdir()):
                    Path(directory).rmdir()
        case Change.FLUSH:
            pass
