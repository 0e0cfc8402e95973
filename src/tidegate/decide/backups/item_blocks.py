"""Which items of a backup are handled together, and in which order the blocks come.

An item is named by its kind, namespace and name. On one machine each volume is one, its definition and its data
together; whatever else belongs together (a pod, its claims and their volumes) is one more relation, not another
algorithm.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise

from tidegate.decide.backups.block_hooks import calls_for
from tidegate.errors import InvalidInput
from tidegate.model.backups.backup import BackupSpec
from tidegate.model.backups.item_block import VOLUME_GROUP_LABEL, BlockProgress
from tidegate.model.names import check_name, check_namespace
from tidegate.model.resource import Ref
from tidegate.model.volumes.volume import Volume

_VOLUME = "Volume"
_ORDERED_KIND = "volumes"

Relation = Callable[[Ref], Iterable[Ref]]


def group_items(items: Sequence[Ref], related: Relation) -> list[tuple[Ref, ...]]:
    """Every item in exactly one block, with all that is related to it, and to that, until nothing new is found.

    A relation counts in both directions. What it names beside `items` is not part of the backup and left out. Blocks
    stand in the order of their first items, and items within a block in the order of `items`.
    """
    place = {item: index for index, item in enumerate(items)}
    neighbours: dict[Ref, set[Ref]] = {item: set() for item in place}
    for item in place:
        for other in related(item):
            if other in place:
                neighbours[item].add(other)
                neighbours[other].add(item)
    blocks: list[tuple[Ref, ...]] = []
    seen: set[Ref] = set()
    for item in place:
        if item not in seen:
            block = _reachable(item, neighbours)
            seen |= block
            blocks.append(tuple(sorted(block, key=place.__getitem__)))
    return blocks


def plan_blocks(spec: BackupSpec, volumes: Sequence[Volume]) -> tuple[BlockProgress, ...]:
    """The blocks of a backup of these volumes: first those that `orderedResources` names, then the others."""
    by_name = {f"{volume.namespace}/{volume.name}": volume for volume in volumes}
    ordered = [name for name in ordered_volumes(spec.ordered_resources) if name in by_name]
    names = [*ordered, *(name for name in by_name if name not in set(ordered))]
    items = [Ref(_VOLUME, *reversed(name.split("/"))) for name in names]
    blocks = []
    for block in group_items(items, relations(by_name, ordered)):
        members = tuple(f"{item.namespace}/{item.name}" for item in block)
        hooks = calls_for(spec.hooks, [by_name[name] for name in members])
        one_by_one = any(name in ordered for name in members)
        sizes = {name: size for name in members if (size := by_name[name].status.size) is not None}
        blocks.append(BlockProgress(volumes=members, expected_sizes=sizes, one_by_one=one_by_one, hooks=hooks))
    return tuple(blocks)


def relations(volumes: Mapping[str, Volume], ordered: Sequence[str] = ()) -> Relation:
    """Volumes of one group with each other, ordered ones with those next to them."""
    groups: dict[tuple[str, str], list[Ref]] = {}
    for volume in volumes.values():
        if group := volume.metadata.labels.get(VOLUME_GROUP_LABEL):
            groups.setdefault((volume.namespace, group), []).append(Ref(_VOLUME, volume.name, volume.namespace))
    following = dict(pairwise(ordered))

    def related(item: Ref) -> Iterable[Ref]:
        name = f"{item.namespace}/{item.name}"
        group = volumes[name].metadata.labels.get(VOLUME_GROUP_LABEL, "")
        # The first of a group leads to all others, and they lead back to it: enough to connect them.
        yield from groups.get((item.namespace, group), ())[:1]
        if name in following:
            yield Ref(_VOLUME, *reversed(following[name].split("/")))

    return related


def ordered_volumes(ordered_resources: Mapping[str, str]) -> tuple[str, ...]:
    """The volumes that go first, as `namespace/name`; raises InvalidInput for what cannot be ordered."""
    field = "spec.orderedResources"
    unknown = sorted(set(ordered_resources) - {_ORDERED_KIND})
    if unknown:
        raise InvalidInput(f"{unknown[0]} cannot be ordered, only {_ORDERED_KIND} can", field=field)
    text = ordered_resources.get(_ORDERED_KIND, "")
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        namespace, _, volume = name.partition("/")
        try:
            check_namespace(namespace)
            check_name(volume)
        except ValueError:
            raise InvalidInput(f"{name!r} is not a volume: write NAMESPACE/NAME", field=field) from None
    return tuple(dict.fromkeys(names))


def _reachable(start: Ref, neighbours: Mapping[Ref, set[Ref]]) -> set[Ref]:
    found, waiting = {start}, [start]
    while waiting:
        for other in neighbours[waiting.pop()] - found:
            found.add(other)
            waiting.append(other)
    return found
