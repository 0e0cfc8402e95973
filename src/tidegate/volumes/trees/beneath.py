"""Opening what lies below a directory, without ever following a link out of it.

A tree may be changed by its users while it is read or written; a directory that becomes a symbolic link at the wrong
moment must not lead elsewhere. So every component is opened from the handle of the one above.
"""

import os
import threading
from dataclasses import dataclass, field

DIRECTORY = os.O_RDONLY | os.O_DIRECTORY
_STEP = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_LEVELS_BETWEEN = 64
# Handles are few. Beyond so many every second is given back, so that they lie close only where the way is now.
_MOST_LANDMARKS = 16


def open_beneath(root: int, path: str, flags: int) -> int:
    """A handle of `path` below the directory `root`; raises OSError. The caller closes it."""
    *parts, name = path.split("/")
    directory = os.dup(root)
    try:
        for part in parts:
            inner = os.open(part, _STEP, dir_fd=directory)
            os.close(directory)
            directory = inner
        return os.open(name, flags | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=directory)
    finally:
        os.close(directory)


@dataclass
class _Way:
    """Directories on the way to what one thread opened last: path and handle, each below the one before."""

    landmarks: list[tuple[str, int]] = field(default_factory=list)


class Beneath:
    """Opens what lies below one directory, each time near the last: in a tree of 5,000 levels too. For many threads.

    Of a deep path the way from the root is not gone again each time: it begins at a landmark.
    """

    def __init__(self, root: int) -> None:
        self._root = root
        self._here = threading.local()
        self._lock = threading.Lock()
        self._ways: list[_Way] = []

    def open(self, path: str, flags: int) -> int:
        """What `open_beneath` returns."""
        way: _Way | None = getattr(self._here, "way", None)
        if way is None:
            if path.count("/") < _LEVELS_BETWEEN:
                return open_beneath(self._root, path, flags)
            way = self._begin()
        landmarks = way.landmarks
        while landmarks and not path.startswith(f"{landmarks[-1][0]}/"):
            os.close(landmarks.pop()[1])
        parts = path.split("/")
        done = landmarks[-1][0].count("/") + 1 if landmarks else 0
        while len(parts) - done > _LEVELS_BETWEEN:
            before, above = landmarks[-1] if landmarks else ("", self._root)
            ahead = "/".join(parts[done : done + _LEVELS_BETWEEN])
            landmarks.append((f"{before}/{ahead}" if before else ahead, open_beneath(above, ahead, _STEP)))
            done += _LEVELS_BETWEEN
            _thin_out(landmarks)
        return open_beneath(landmarks[-1][1] if landmarks else self._root, "/".join(parts[done:]), flags)

    def close(self) -> None:
        """Give the landmarks back; no thread opens any more. The root stays open."""
        for way in self._ways:
            while way.landmarks:
                os.close(way.landmarks.pop()[1])

    def _begin(self) -> _Way:
        way = self._here.way = _Way()
        with self._lock:
            self._ways.append(way)
        return way


def _thin_out(landmarks: list[tuple[str, int]]) -> None:
    if len(landmarks) > _MOST_LANDMARKS:
        for _, handle in landmarks[:-1:2]:
            os.close(handle)
        del landmarks[:-1:2]
