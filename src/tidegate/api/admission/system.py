"""The way in for system backups and system restores."""

from collections.abc import Iterator
from contextlib import contextmanager

from tidegate.api.services import Services
from tidegate.decide.resources.admission import target_for
from tidegate.errors import AlreadyExists, InvalidInput
from tidegate.format.cfgs.system_backup_cfg import LONGEST_SYSTEM_BACKUP_NAME
from tidegate.model.resource import Resource
from tidegate.model.stores.target import BackupTarget
from tidegate.model.system.system import SYSTEM_BACKUP_FINALIZER, SystemBackup
from tidegate.ports.secrets import access_to


@contextmanager
def about_target(name: str, *, field: str) -> Iterator[None]:
    """What is wrong with a target is told of the target: who asks for something else has no field like those of it."""
    try:
        yield
    except InvalidInput as error:
        raise InvalidInput(f"target {name}: {error.message}", field=field, hint=error.hint) from None


async def admit_system_backup(services: Services, resource: Resource) -> Resource:
    """With its target written in, which must answer now: a name that its store has already is never used twice."""
    assert isinstance(resource, SystemBackup)  # noqa: S101  # see ADMISSIONS
    if len(resource.name) > LONGEST_SYSTEM_BACKUP_NAME:
        message = f"the name of a system backup has at most {LONGEST_SYSTEM_BACKUP_NAME} characters"
        raise InvalidInput(message, field="metadata.name")
    targets = (await services.store.list(BackupTarget)).items
    name = target_for(resource.spec.target, targets, field="spec.target")
    target = next(one for one in targets if one.name == name)
    with about_target(name, field="spec.target"):
        places = await services.archives.found(await access_to(target, services.secrets))
    for place in places:
        if place.name == resource.name:
            raise AlreadyExists(
                f"target {name} already has a system backup {place.name} (version {place.version})",
                hint="choose another name, or delete that one first",
            )
    return resource.with_spec(target=name, found_version=None).with_metadata(finalizers=(SYSTEM_BACKUP_FINALIZER,))
