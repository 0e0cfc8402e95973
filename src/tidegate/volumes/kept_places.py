"""Whether a restore would touch a directory that restores stay out of."""

import os
import threading
from collections.abc import Callable, Sequence

from tidegate.errors import DestinationUnusable
from tidegate.model.volumes.kept_place import KeptPlace

# A store on a share whose server is gone never answers; restores from other stores go on, and see only its name.
_ANSWER_SECONDS = 10.0

Identity = tuple[int, int] | None
Found = list[tuple[str, list[Identity]]]


def touched(path: str, places: Sequence[KeptPlace]) -> KeptPlace | None:
    """The first of the places that a path touches, if it touches one."""
    return next((place for place in places if touches(path, place.path)), None)


def refuse_kept(path: str, places: Sequence[KeptPlace]) -> None:
    """Raise DestinationUnusable for a path that touches one of them."""
    if place := touched(path, places):
        raise DestinationUnusable(f"{path} {place.sentence}", hint="choose another place")


def touches(path: str, kept: str) -> bool:
    """Whether a path is a directory, lies in it or holds it, wherever links lead and whatever is mounted twice.

    The same counts for each part of the directory: one may be a link to, or mounted from, another place.
    """
    real = os.path.realpath(path)
    if _is_around(real, os.path.normpath(kept)):
        return True
    above = _identities(real)
    return any(_is_around(real, part) or _touch(above, theirs) for part, theirs in _LOOKS.at(kept))


def look_at_parts(kept: str) -> Found:
    """Of a directory and its parts: where they really are, and what is there and above."""
    parts = (os.path.realpath(part) for part in (kept, *_parts(kept)))
    return [(part, _identities(part)) for part in parts]


class PatientLooks:
    """Looks at directories that may hang: one thread at a time for each, and it is waited for once."""

    def __init__(
        self, look: Callable[[str], Found] = look_at_parts, *, answer_seconds: float = _ANSWER_SECONDS
    ) -> None:
        self._look = look
        self._answer_seconds = answer_seconds
        self._hanging: dict[str, threading.Thread] = {}

    def at(self, kept: str) -> Found:
        """Nothing if the directory does not answer."""
        earlier = self._hanging.get(kept)
        if earlier is not None and earlier.is_alive():
            return []
        found: Found = []
        thread = threading.Thread(target=lambda: found.extend(self._look(kept)), name=f"look at {kept}", daemon=True)
        thread.start()
        thread.join(self._answer_seconds)
        if thread.is_alive():
            self._hanging[kept] = thread
            return []
        self._hanging.pop(kept, None)
        return found


_LOOKS = PatientLooks()


def _is_around(path: str, kept: str) -> bool:
    return os.path.commonpath((path, kept)) in {path, kept}


def _touch(above: Sequence[Identity], above_kept: Sequence[Identity]) -> bool:
    mine, theirs = above[0], above_kept[0]
    return (theirs is not None and theirs in above) or (mine is not None and mine in above_kept)


def _parts(kept: str) -> list[str]:
    try:
        return [os.path.join(kept, name) for name in os.listdir(kept)]
    except OSError:
        return []


def _identities(path: str) -> list[Identity]:
    """Of the path itself and of all above it; None for what is not there."""
    found: list[Identity] = []
    while True:
        try:
            facts = os.stat(path)
            found.append((facts.st_dev, facts.st_ino))
        except OSError:
            found.append(None)
        if path == os.path.dirname(path):
            return found
        path = os.path.dirname(path)
