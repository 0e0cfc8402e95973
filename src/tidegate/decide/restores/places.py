"""Where each volume of a restore goes, and which volumes that concerns."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from tidegate.model.restores.restore import RestoreSpec
from tidegate.model.transfers.transfer import TransferSpec
from tidegate.model.volumes.volume import Volume
from tidegate.model.volumes.volume_kind import VolumeKind
from tidegate.model.volumes.volume_ref import Claim, Device, Directory, Image, VolumeRef, copy_at

Volumes = Mapping[tuple[str, str], Volume]
_Spot = tuple[str, ...] | Claim
"""A path by its parts, or a claim, which lies in nothing and holds nothing else."""
_ROOT: _Spot = ()
_LOST = "its volume backup was deleted from the store since; only another backup can bring it back"


@dataclass(frozen=True)
class Placement:
    """One volume backup and where it goes; one with a problem does not come back."""

    source: TransferSpec
    namespace: str
    to: VolumeRef | None
    """None: nowhere."""
    in_place: bool = True
    """Whether it goes to where the volume belongs, and so becomes the volume."""
    problem: str = ""
    node: str | None = None

    @property
    def kind(self) -> VolumeKind:
        """What it becomes, or what it was if it goes nowhere."""
        return self.to.kind if self.to else self.source.volume_kind

    @property
    def address(self) -> str:
        """Where it goes, for a sentence; empty: nowhere."""
        return self.to.address if self.to else ""

    @property
    def came_from(self) -> str:
        """The volume as it is in the backup."""
        return full_name(self.source.volume_namespace, self.source.volume_name)

    @property
    def volume(self) -> str:
        """The volume as it will be."""
        return full_name(self.namespace, self.source.volume_name)


def full_name(namespace: str, name: str) -> str:
    """`namespace/name`; of a volume that Longhorn wrote nobody knows a namespace."""
    return f"{namespace}/{name}" if namespace else name


def placements(
    spec: RestoreSpec,
    sources: Sequence[TransferSpec],
    volumes: Volumes,
    *,
    lost: Sequence[TransferSpec] = (),
    broken: Mapping[str, str] | None = None,
) -> list[Placement]:
    """One for each volume, in the order in which they come back; two that would go to one place are a problem.

    So is one of `lost`, which the backup had and the store has no more: it is told, instead of less coming back in
    silence. `broken` says by the name of the volume backup what is wrong with those that cannot be read.
    """
    rank = {name: place for place, name in enumerate(spec.volume_order)}

    def order(placement: Placement) -> tuple[int, str, str]:
        source = placement.source
        return rank.get(placement.came_from, len(rank)), source.volume_namespace, source.volume_name

    found = [_placement(spec, source, volumes) for source in sources]
    found += [replace(_placement(spec, source, volumes), to=None, problem=_LOST) for source in lost]
    return _apart([_readable(placement, broken or {}) for placement in sorted(found, key=order)])


def _readable(placement: Placement, broken: Mapping[str, str]) -> Placement:
    why = broken.get(placement.source.store_backup)
    if why is None or placement.problem:
        return placement
    target = placement.source.target
    problem = f"its volume backup could not be read when target {target} was last synced: {why}"
    return replace(placement, to=None, problem=problem)


def volumes_written(found: Iterable[Placement], volumes: Volumes) -> tuple[str, ...]:
    """Every volume that the restore writes to: those that it brings back, and those whose files it touches.

    A directory elsewhere is nobody's volume; but what lies in a volume, or has one in it, is that volume's.
    """
    above: dict[_Spot, list[str]] = defaultdict(list)
    at: dict[_Spot, list[str]] = defaultdict(list)
    for (namespace, name), volume in volumes.items():
        spot, *outer = _spots(volume.spec.ref)
        at[spot].append(full_name(namespace, name))
        for one in outer:
            above[one].append(full_name(namespace, name))
    written: set[str] = set()
    for placement in found:
        if placement.problem or placement.to is None:
            continue
        if placement.in_place and placement.namespace:
            written.add(placement.volume)
        spots = _spots(placement.to)
        written.update(above.get(spots[0], ()))
        for one in spots:
            written.update(at.get(one, ()))
    return tuple(sorted(written))


def _placement(spec: RestoreSpec, source: TransferSpec, volumes: Volumes) -> Placement:
    old, name = source.volume_namespace, source.volume_name
    namespace = spec.namespace_mapping.get(old, old)
    if spec.destination is not None:
        path = f"{spec.destination.rstrip('/')}/{full_name(namespace, name)}"
        to = copy_at(path, source.volume_kind)
        return Placement(source, namespace, to, in_place=False, node=source.node)
    volume = volumes.get((namespace, name))
    if volume is not None:
        ref = volume.spec.ref
        problem = _misfit(full_name(namespace, name), source.volume_kind, ref.kind)
        return Placement(source, namespace, ref, problem=problem, node=volume.spec.node)
    problem = ""
    if namespace != old:
        problem = f"there is no volume {namespace}/{name}; define it with: tidegate volume create, or restore with --to"
    elif source.ref is None:
        problem = f"nobody knows where {full_name(namespace, name)} belongs; say where to put it with --to"
    return Placement(source, namespace, None if problem else source.ref, problem=problem, node=source.node)


def _misfit(volume: str, held: VolumeKind, kind: VolumeKind) -> str:
    """An image and a device hold the same bytes; a tree of files is something else."""
    if held.is_tree == kind.is_tree:
        return ""
    return f"volume {volume} is of kind {kind} now, the backup of kind {held}; restore it elsewhere with --to"


def _apart(found: list[Placement]) -> list[Placement]:
    """Of those that would lie at or in the place of another one, none but the first can be brought back."""
    taken: dict[_Spot, str] = {}
    for placement in found:
        if not placement.problem and placement.to is not None:
            taken.setdefault(_spots(placement.to)[0], placement.came_from)
    return [_alone(placement, taken) for placement in found]


def _alone(placement: Placement, taken: Mapping[_Spot, str]) -> Placement:
    if placement.problem or placement.to is None:
        return placement
    for spot in _spots(placement.to):
        other = taken.get(spot, placement.came_from)
        if other != placement.came_from and spot != _ROOT:
            problem = f"{placement.came_from} and {other} would both go to {placement.address}"
            return replace(placement, problem=problem)
    return placement


def _spots(ref: VolumeRef) -> list[_Spot]:
    """Where a volume lies and what that lies in, innermost first: each as something that can be compared."""
    match ref:
        case Directory(path) | Image(path) | Device(path):
            parts = tuple(part for part in path.split("/") if part)
            return [parts[:length] for length in range(len(parts), -1, -1)]
        case Claim():
            return [ref]
        case _:
            assert_never(ref)
