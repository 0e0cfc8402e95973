"""What a sync has to pull, read again and drop: names and marks in, plans out.

Pure. Only the catalogue is changed by what is dropped here; a store never is. Nothing is decided from a listing that
failed: such a listing does not get here.
"""

import hashlib
from collections.abc import Collection, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import StrEnum

# Each sync by the timer looks at the volume.cfg of one volume in so many; together with what a listing costs that
# stays below three requests for each volume where there are many.
_TURNS = 3
_SAMPLE = 3


@dataclass(frozen=True)
class HeldBack:
    """Volumes that seem to be gone, so many at once that somebody should say so. `mark` stands for exactly these."""

    names: tuple[str, ...]
    of: int
    mark: str

    @property
    def message(self) -> str:
        """For the person who must decide."""
        sample = ", ".join(self.names[:_SAMPLE]) + (", ..." if len(self.names) > _SAMPLE else "")
        return (
            f"{len(self.names)} of {self.of} volumes are no longer in the store ({sample}); they are still listed, "
            "because so many at once look like a store that is not mounted or not the same. "
            f"If they are really gone, confirm it with {self.mark}"
        )


@dataclass(frozen=True)
class VolumesPlan:
    """Sorted. `pull` are new to the catalogue, `look` are in both; `drop` are in the catalogue alone."""

    pull: tuple[str, ...]
    look: tuple[str, ...]
    drop: tuple[str, ...]
    held_back: HeldBack | None = None


def plan_volumes(
    known: AbstractSet[str], listed: AbstractSet[str], *, confirmed: str = "", moved: bool = False
) -> VolumesPlan:
    """The seed's steps 3 and 4. More than half of the known ones gone at once are kept until that is confirmed.

    `confirmed` is the mark that a person gave; it counts only for exactly those volumes that it stands for. `moved`:
    the target is another place now, so what the old one had is expected to be gone.
    """
    gone = tuple(sorted(known - listed))
    held_back = None
    if 2 * len(gone) > len(known) and not moved:
        mark = hashlib.blake2b("\n".join(gone).encode("utf-8", "replace"), digest_size=6).hexdigest()
        if mark != confirmed:
            held_back = HeldBack(gone, len(known), mark)
    return VolumesPlan(
        pull=tuple(sorted(listed - known)),
        look=tuple(sorted(known & listed)),
        drop=() if held_back else gone,
        held_back=held_back,
    )


@dataclass(frozen=True)
class BackupsPlan:
    """Sorted. `read` are new or changed; `drop` are in the catalogue alone."""

    read: tuple[str, ...]
    drop: tuple[str, ...]

    @property
    def suspicious(self) -> str:
        """One of the backups to drop if all of them go at once: whether it is really gone is worth asking by name."""
        return self.drop[0] if self.drop and not self.read else ""


def plan_backups(known: Mapping[str, int], listed: Mapping[str, int]) -> BackupsPlan:
    """The seed's steps 7.4 and 7.5, for one volume; by name and mark, so that a cfg is read once for what it says."""
    return BackupsPlan(
        read=tuple(sorted(name for name, mark in listed.items() if known.get(name) != mark)),
        drop=tuple(sorted(known.keys() - listed.keys())),
    )


class CfgLook(StrEnum):
    """Why a sync looks at a volume.cfg, or does not."""

    NEW = "New"
    CHANGED = "Changed"
    """Its backups are not those of the last time."""
    SETTLING = "Settling"
    """They were not the last time; whoever changed them writes volume.cfg after them."""
    FAULTY = "Faulty"
    """It could not be read the last time."""
    FORCED = "Forced"
    TURN = "Turn"
    NOT_NOW = "NotNow"


def look_at_cfg(
    name: str, *, known: bool, changed: bool, settled: bool, faulty: bool, forced: bool, turn: int
) -> CfgLook:
    """Whoever makes or removes a backup changes its directory first and volume.cfg then; the rest is left to turns."""
    if not known:
        return CfgLook.NEW
    for applies, look in (
        (forced, CfgLook.FORCED),
        (changed, CfgLook.CHANGED),
        (not settled, CfgLook.SETTLING),
        (faulty, CfgLook.FAULTY),
        ((_number(name) + turn) % _TURNS == 0, CfgLook.TURN),
    ):
        if applies:
            return look
    return CfgLook.NOT_NOW


def _number(name: str) -> int:
    return hashlib.blake2b(name.encode("utf-8", "replace"), digest_size=2).digest()[0]


def ignored_message(names: Collection[str], *, what: str) -> str:
    """One sentence about entries that cannot be what they should be; their names are cut, they are anybody's."""
    shown = ", ".join(ascii(name[:80]) for name in sorted(names)[:_SAMPLE])
    more = f" and {len(names) - _SAMPLE} more" if len(names) > _SAMPLE else ""
    return f"passed over {len(names)} entries that cannot be {what}: {shown}{more}" if names else ""
