"""What a system restore does about each definition of an archive: every answer with its reason.

What exists is updated and nothing is deleted. Left as they are: limits of restores, because whoever sets them for the
occasion means them; and targets that exist, because one of them is how the archive was reached.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tidegate.model.resource import Resource
from tidegate.model.setting import CONCURRENT_RESTORES, CONCURRENT_RESTORES_PER_NODE, KNOWN_SETTINGS, Setting
from tidegate.model.stores.store_url import same_store
from tidegate.model.stores.target import BackupTarget
from tidegate.model.system.system_restore import DefinitionAction, RestoredDefinition
from tidegate.model.system_archive import DEFINITIONS, SystemArchive, definition_of
from tidegate.model.volumes.volume import Volume

_NEVER_RESTORED = frozenset({CONCURRENT_RESTORES.name, CONCURRENT_RESTORES_PER_NODE.name})

Place = tuple[str, str, str]
"""Kind, namespace and name."""


@dataclass(frozen=True)
class Here:
    """The system that the archive is restored to, as it is."""

    resources: Mapping[Place, Resource]
    """All of the kinds that archives hold."""
    nodes: frozenset[str]
    through: str
    """Name of the target that the archive is read from."""

    @property
    def targets(self) -> list[BackupTarget]:
        """All of them."""
        return [one for one in self.resources.values() if isinstance(one, BackupTarget)]


@dataclass(frozen=True)
class PlannedDefinition:
    """One definition: what is wanted, as it would be stored here, and what to do about it."""

    wanted: Resource
    action: DefinitionAction
    reason: str = ""

    @property
    def row(self) -> RestoredDefinition:
        """As the status tells it."""
        return RestoredDefinition(
            kind=self.wanted.kind, name=_full_name(self.wanted), action=self.action, reason=self.reason
        )


def place_of(resource: Resource) -> Place:
    """What a definition is known by."""
    return resource.kind, resource.namespace, resource.name


def plan_definitions(archive: SystemArchive, here: Here) -> tuple[PlannedDefinition, ...]:
    """In the order in which they may come back: each behind those that it refers to."""
    order = {kind.model_fields["kind"].default: rank for rank, kind in enumerate(DEFINITIONS)}
    ordered = sorted(archive.definitions, key=lambda one: (order[one.kind], one.namespace, one.name))
    return tuple(_planned(archive, one, here) for one in ordered)


def _planned(archive: SystemArchive, definition: Resource, here: Here) -> PlannedDefinition:
    there = here.resources.get(place_of(definition))
    if isinstance(definition, Setting) and (why := _why_not_set(definition)):
        return PlannedDefinition(definition, DefinitionAction.KEEP, why)
    if isinstance(definition, BackupTarget):
        return _planned_target(archive, definition, there, here)
    reason = ""
    if isinstance(definition, Volume) and definition.spec.node and definition.spec.node not in here.nodes:
        reason = f"there is no node {definition.spec.node} here; it is taken to be on the server's"
        definition = definition.with_spec(node=None)
    if there is None:
        return PlannedDefinition(definition, DefinitionAction.CREATE, reason)
    same = merged(there, definition) == there
    return PlannedDefinition(definition, DefinitionAction.UNCHANGED if same else DefinitionAction.UPDATE, reason)


def _why_not_set(setting: Setting) -> str:
    if setting.name in _NEVER_RESTORED:
        return "limits of restores stay as they are here"
    known = KNOWN_SETTINGS.get(setting.name)
    if known is None:
        return "this version has no such setting"
    try:
        known.check(setting.spec.value)
    except ValueError as error:
        return f"this version does not take the value: {error}"
    return ""


def _planned_target(
    archive: SystemArchive, target: BackupTarget, there: Resource | None, here: Here
) -> PlannedDefinition:
    if there is not None:
        same = definition_of(there) == definition_of(target)
        action = DefinitionAction.UNCHANGED if same else DefinitionAction.KEEP
        return PlannedDefinition(target, action, "" if same else "targets that exist here are not changed")
    was_default = target.spec.default or sum(isinstance(one, BackupTarget) for one in archive.definitions) == 1
    taken = any(one.spec.default for one in here.targets)
    target = target.with_spec(default=was_default and not taken, sync_requested_at=None)
    twin = next((one for one in here.targets if one.name == here.through), None)
    reason = ""
    if twin is not None and same_store(twin.spec.url, target.spec.url):
        # Its secret is not in the archive, and the one that was given for this store is known to work.
        target = target.with_spec(credential_secret=twin.spec.credential_secret)
    elif target.spec.credential_secret:
        reason = f"its secret {target.spec.credential_secret} is not in the archive; put it there if it is missing"
    return PlannedDefinition(target, DefinitionAction.CREATE, reason)


def merged(stored: Resource, wanted: Resource) -> Resource:
    """What is there, with the definition of the archive: labels and annotations that only exist here stay."""
    return stored.replace(spec=wanted.spec).with_metadata(
        labels={**stored.metadata.labels, **wanted.metadata.labels},
        annotations={**stored.metadata.annotations, **wanted.metadata.annotations},
    )


def marked_done(rows: Sequence[RestoredDefinition]) -> tuple[RestoredDefinition, ...]:
    """Once all of them are as the plan wants them."""
    return tuple(row.replace(done=True) for row in rows)


def _full_name(resource: Resource) -> str:
    return f"{resource.namespace}/{resource.name}" if resource.namespace else resource.name
