"""What a restore would do as things are now, conflicts first. Pure: whoever asks has looked at the places before."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from tidegate.decide.queue.plan import Waiting
from tidegate.decide.restores.places import Placement
from tidegate.decide.stores.target_away import Away
from tidegate.errors import Refused
from tidegate.model.backups.existing_data import ExistingData
from tidegate.model.reasons import Reason
from tidegate.model.restores.restore import RestoreSpec
from tidegate.model.restores.restore_plan import (
    Place,
    PlaceState,
    PlanConflict,
    PlannedVolume,
    PlannedWait,
    RestorePlan,
    Room,
)
from tidegate.model.volumes.volume_ref import Claim, Device, Directory, Image, VolumeRef

_MOST_NAMED = 3


@dataclass(frozen=True)
class PlanSurroundings:
    """What was found when somebody looked."""

    places: Mapping[VolumeRef, Place]
    sizes: Mapping[str, int]
    """Bytes by the name of the volume backup."""
    unavailable_targets: Mapping[str, Away] = field(default_factory=dict)
    waiting: Waiting | None = None
    """Its place in the queue of restores, if it would wait."""
    waiting_volumes: int = 0
    """Downloads that wait for the restore limit already."""

    def at(self, placement: Placement) -> Place:
        """What is where it goes; a free place where nothing was looked at."""
        return self.places.get(placement.to, Place()) if placement.to else Place()


def plan_restore(
    spec: RestoreSpec, found: Sequence[Placement], around: PlanSurroundings, *, backup: str | None
) -> RestorePlan:
    """The whole plan."""
    volumes = tuple(_planned(placement, around) for placement in found)
    conflicts = [
        PlanConflict(volume=placement.came_from, message=message)
        for placement in found
        if (message := _conflict(spec, placement, around))
    ]
    return RestorePlan(
        backup_name=backup,
        conflicts=tuple(conflicts),
        waits=_waits(found, around),
        queue_position=around.waiting.position if around.waiting else None,
        warnings=_warnings(spec, found, around),
        volumes=volumes,
    )


def check_conflicts(plan: RestorePlan) -> None:
    """Raises Refused for a restore of which it is known that part of it would not be carried out."""
    if not plan.conflicts:
        return
    told = [f"{one.volume}: {one.message}" if one.volume else one.message for one in plan.conflicts[:_MOST_NAMED]]
    rest = len(plan.conflicts) - len(told)
    more = f"; and {rest} more" if rest else ""
    raise Refused(
        f"{len(plan.conflicts)} of {len(plan.volumes)} volumes would not come back: {'; '.join(told)}{more}",
        hint="see all of it with: tidegate restore plan; bring back only the others with --include-volumes",
    )


def _planned(placement: Placement, around: PlanSurroundings) -> PlannedVolume:
    source = placement.source
    return PlannedVolume(
        volume=placement.came_from,
        target_volume=placement.volume,
        kind=placement.kind,
        target=source.target,
        store_backup=source.store_backup,
        size=around.sizes.get(source.store_backup),
        destination=placement.address,
        place=around.places.get(placement.to) if placement.to else None,
    )


def _conflict(spec: RestoreSpec, placement: Placement, around: PlanSurroundings) -> str:
    """Why this volume would not be brought back; empty if nothing is in its way. The movers judge in the same way."""
    if placement.problem:
        return placement.problem
    place = around.at(placement)
    if place.state is PlaceState.UNREADABLE or place.in_the_way:
        problem = f"made: {place.in_the_way}" if place.in_the_way else f"looked at: {place.detail}"
        return f"{placement.address} cannot be {problem}"
    if place.mounted and not spec.force:
        there = f" ({place.detail})" if place.detail else ""
        return f"{placement.address} is mounted or held{there}; only --force restores onto it"
    return _conflict_of_kind(spec, placement, place)


def _conflict_of_kind(spec: RestoreSpec, placement: Placement, place: Place) -> str:
    match placement.to:
        case Device():
            return _conflict_of_device(spec, placement, place)
        case Directory() if place.state not in {PlaceState.FREE, PlaceState.EMPTY, PlaceState.DIRECTORY}:
            return f"{placement.address} exists and is not a directory"
        case Image() if place.state not in {PlaceState.FREE, PlaceState.FILE}:
            return f"{placement.address} exists and is not a regular file"
        case Directory() | Image() | Claim() | None:
            return _conflict_of_content(spec, placement, place)
        case _:
            assert_never(placement.to)


def _conflict_of_content(spec: RestoreSpec, placement: Placement, place: Place) -> str:
    where = placement.address
    if spec.existing_data is ExistingData.OVERWRITE and place.used_by and not spec.force:
        return f"{where} is in use by {place.used_by}; stop that, or use --force if what it writes may be lost"
    if place.state in {PlaceState.FREE, PlaceState.EMPTY} or spec.existing_data is ExistingData.OVERWRITE:
        return ""
    there = f" ({place.detail})" if place.detail else ""
    return f"{where} holds something{there}; use --existing-data overwrite, or --to for another place"


def _conflict_of_device(spec: RestoreSpec, placement: Placement, place: Place) -> str:
    if place.state is not PlaceState.DEVICE:
        return f"{placement.address} is not a block device"
    return "" if spec.force else f"{placement.address} is a block device; only --force writes onto one"


def _waits(found: Sequence[Placement], around: PlanSurroundings) -> tuple[PlannedWait, ...]:
    waits = [PlannedWait(reason=around.waiting.reason, message=around.waiting.message)] if around.waiting else []
    gone = around.unavailable_targets
    names = sorted({placement.source.target for placement in found} & gone.keys())
    waits += [PlannedWait(reason=gone[name].reason, message=gone[name].message) for name in names]
    if around.waiting_volumes:
        message = f"{around.waiting_volumes} other volumes wait for the restore limit and were asked for before"
        waits.append(PlannedWait(reason=Reason.RESTORE_LIMIT, message=message))
    return tuple(waits)


def _risk(placement: Placement, place: Place) -> str:
    """What --force means for this volume; empty if nothing is at stake."""
    where = placement.address
    if isinstance(placement.to, Device):
        used = f"; it is {place.detail}, and whoever uses it may spoil it" if place.mounted else ""
        return f"{where} is written in place (--force): what it holds is lost, also if the restore fails{used}"
    if place.mounted:
        return f"{where} is mounted: it is replaced entry by entry (--force), and who uses it sees a mixture"
    if place.used_by:
        return f"{where} is in use by {place.used_by}: it is replaced (--force), and what that writes is lost"
    return ""


def _warnings(spec: RestoreSpec, found: Sequence[Placement], around: PlanSurroundings) -> tuple[str, ...]:
    told = []
    if not found:
        told.append("nothing in the backup is asked for; nothing would be brought back")
    if spec.force:
        told += [sentence for p in found if (sentence := _risk(p, around.at(p)))]
    if spec.existing_data is ExistingData.OVERWRITE:
        told += [f"what is at {p.address} now is lost" for p in found if around.at(p).full]
    if spec.included_paths:
        told += [f"{p.came_from} is of kind {p.kind}: it comes back as a whole" for p in found if not p.kind.is_tree]
    return (*told, *_tight_rooms(spec, found, around))


def _tight_rooms(spec: RestoreSpec, found: Sequence[Placement], around: PlanSurroundings) -> list[str]:
    """File systems that may be too small. A warning and no more: holes and zeros of an image take no room."""
    needed: dict[str, list[Placement]] = defaultdict(list)
    rooms: dict[str, Room] = {}
    for placement in found:
        room = around.at(placement).room
        # Nobody knows beforehand how large the selected paths of a tree are.
        if room is not None and not placement.problem and not (spec.included_paths and placement.kind.is_tree):
            needed[room.file_system].append(placement)
            rooms[room.file_system] = room
    told = []
    for name, there in needed.items():
        size = sum(around.sizes.get(placement.source.store_backup, 0) for placement in there)
        if size > (free := rooms[name].free_bytes):
            words = f"{_mebibytes(size)} would be restored to where {_mebibytes(free)} are free"
            told.append(f"{words}: {', '.join(placement.address for placement in there[:_MOST_NAMED])}")
    return told


def _mebibytes(size: int) -> str:
    return f"{size / (1 << 20):,.1f} MiB"
