"""Resources with only what matters to a test, and the events of a watch."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from typing import cast

from tidegate.model.backups.backup import Backup, BackupSpec
from tidegate.model.kinds import kind_name
from tidegate.model.resource import Metadata, Resource
from tidegate.model.setting import Setting, SettingSpec
from tidegate.model.volumes.volume import Volume, VolumeSpec
from tidegate.ports.resource_store import Event
from tidegate.resources.versions import SCATTERED

# Long enough for any machine; a test that runs into it hangs for a reason.
_PATIENCE_SECONDS = 30


def a_backup(name: str = "nightly", **metadata: object) -> Backup:
    """A backup of the namespace `shop`; labels, finalizers and owners as given."""
    return Backup(
        metadata=Metadata.model_validate({"name": name, **metadata}), spec=BackupSpec(included_namespaces=("shop",))
    )


def a_volume(name: str = "db", namespace: str = "shop", **metadata: object) -> Volume:
    """A directory in a namespace."""
    described = Metadata.model_validate({"name": name, "namespace": namespace, **metadata})
    return Volume(metadata=described, spec=VolumeSpec(directory="/srv/data"))


def a_setting(name: str = "concurrent-backups", value: str = "1") -> Setting:
    """A setting with this value."""
    return Setting(metadata=Metadata(name=name), spec=SettingSpec(value=value))


def beginning(*kinds: type[Resource]) -> dict[type[Resource], str]:
    """The versions that these kinds have in an empty store in memory."""
    return {kind: SCATTERED.spell(kind_name(kind), 0) for kind in kinds}


def place_among_writes(resource: Resource) -> int:
    """When the store in memory made this version. Only a test may ask, and only that store."""
    return SCATTERED.read(resource.kind, resource.metadata.resource_version)


async def take(events: AsyncIterator[Event], count: int) -> Sequence[Event]:
    """The next `count` events of a watch, which ends with that. Raises TimeoutError if they do not come."""
    taken: list[Event] = []
    # The port promises an iterator; to be closed at once it must be the generator that it is.
    async with asyncio.timeout(_PATIENCE_SECONDS), aclosing(cast("AsyncGenerator[Event, None]", events)) as stream:
        while len(taken) < count:
            taken.append(await anext(stream))
    return taken
