"""The way in: what a new resource is checked against before it is stored. Looks here, decides in `decide.admission`."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass

from tidegate.api.admission.matching import match_now
from tidegate.api.admission.notification import admit_notification
from tidegate.api.admission.restore_planning import source_without_conflicts
from tidegate.api.admission.system import admit_system_backup
from tidegate.api.admission.system_restore_plan import admit_system_restore
from tidegate.api.admission.verification import admit_verification, check_command
from tidegate.api.services import Services
from tidegate.decide.resources.admission import admit_backup, admit_schedule, check_node, check_setting, check_size
from tidegate.decide.volumes.matching import check_match, same_selection, with_sentences
from tidegate.errors import AlreadyExists, InvalidInput, NotFound
from tidegate.format.trees.globs import TreeGlobs
from tidegate.model.backups.backup import BACKUP_FINALIZER, Backup
from tidegate.model.backups.hooks import BackupHooks, HookStage
from tidegate.model.names import check_namespace
from tidegate.model.notifications.notification import Notification
from tidegate.model.resource import Metadata, Resource
from tidegate.model.restores.restore import RESTORE_FINALIZER, Restore
from tidegate.model.schedules.schedule import Schedule
from tidegate.model.setting import Setting
from tidegate.model.stores.target import BackupTarget
from tidegate.model.system.system import SystemBackup
from tidegate.model.system.system_restore import SystemRestore
from tidegate.model.transfers.node import Node
from tidegate.model.verification.verification import Verification
from tidegate.model.volumes.volume import Namespace, Volume
from tidegate.ports.secrets import access_to


@dataclass(frozen=True)
class Admission:
    """Turns what a client sent into what is stored, or raises a UserError; `before_create` runs last."""

    check: Callable[[Services, Resource], Awaitable[Resource]]
    before_create: Callable[[Services, Resource], Awaitable[None]] | None = None


def as_sent(resource: Resource) -> Resource:
    """Only what a client may give: a status, versions or finalizers of its own are not taken over."""
    kind = type(resource)
    name, given = resource.name, resource.metadata
    if kind.namespaced:
        if not given.namespace:
            raise InvalidInput("metadata.namespace is missing", field="metadata.namespace")
        _checked_namespace(given.namespace, "metadata.namespace")
    elif given.namespace:
        raise InvalidInput(f"a {resource.kind} has no namespace", field="metadata.namespace")
    metadata = Metadata(name=name, namespace=given.namespace, labels=given.labels, annotations=given.annotations)
    sent = kind.model_validate({"metadata": metadata, "spec": resource.spec})
    check_size(sent)
    return sent


async def _admit_backup(services: Services, resource: Resource) -> Resource:
    assert isinstance(resource, Backup)  # noqa: S101  # see ADMISSIONS
    targets = (await services.store.list(BackupTarget)).items
    await _check_hooks(services, resource.spec.hooks, "spec.hooks")
    admitted = admit_backup(resource, targets)
    found = await match_now(services, admitted.spec)
    check_match(admitted.spec, found)
    return with_sentences(admitted, found).with_metadata(finalizers=(BACKUP_FINALIZER,))


async def _check_hooks(services: Services, hooks: BackupHooks, field: str) -> None:
    """Whoever names a command that cannot be run hears it now, not from a backup that fails at night."""
    for number, resource in enumerate(hooks.resources):
        for stage in HookStage:
            for place, hook in enumerate(resource.at(stage)):
                try:
                    await services.hooks.check(hook.command)
                except InvalidInput as error:
                    where = f"{field}.resources[{number}].{stage}[{place}].exec"
                    raise InvalidInput(error.message, field=where, hint=error.hint) from None


async def _admit_restore(services: Services, resource: Resource) -> Resource:
    assert isinstance(resource, Restore)  # noqa: S101  # see ADMISSIONS
    found = await source_without_conflicts(services, resource.spec)
    return found.noted_on(resource).with_metadata(finalizers=(RESTORE_FINALIZER,))


async def _admit_schedule(services: Services, resource: Resource) -> Resource:
    assert isinstance(resource, Schedule)  # noqa: S101  # see ADMISSIONS
    await _check_hooks(services, resource.spec.template.hooks, "spec.template.hooks")
    if resource.spec.verification is not None:
        await check_command(services, resource.spec.verification.check, "spec.verification.check")
    admitted = admit_schedule(resource, (await services.store.list(BackupTarget)).items)
    if admitted.spec.system_backup is None:
        await _check_template(services, admitted)
    return admitted


async def _check_template(services: Services, schedule: Schedule) -> None:
    """Of one that selects what it selected before, all else may be changed, whatever has become of its volumes."""
    with suppress(NotFound):
        stored = await services.store.get(Schedule, schedule.name)
        if same_selection(stored.spec.template, schedule.spec.template):
            return
    found = await match_now(services, schedule.spec.template)
    check_match(schedule.spec.template, found, above="spec.template")


async def _admit_volume(services: Services, resource: Resource) -> Resource:
    assert isinstance(resource, Volume)  # noqa: S101  # see ADMISSIONS
    TreeGlobs(resource.spec.excludes)  # refuses one that can never match: who excludes a secret must not find it later
    if resource.spec.node is not None:
        check_node(resource.spec.node, (await services.store.list(Node)).items)
    await services.volume_probe.measure(resource.spec.ref)
    return resource


async def _ensure_namespace(services: Services, resource: Resource) -> None:
    """A volume brings its namespace along: a person who names one means it."""
    try:
        await services.store.create(Namespace(metadata=Metadata(name=resource.namespace)))
    except AlreadyExists:
        return


async def _admit_namespace(_services: Services, resource: Resource) -> Resource:
    _checked_namespace(resource.name, "metadata.name")
    return resource


async def _admit_target(services: Services, resource: Resource) -> Resource:
    assert isinstance(resource, BackupTarget)  # noqa: S101  # see ADMISSIONS
    await services.store_probe.check(await access_to(resource, services.secrets))
    return resource


async def _admit_setting(_services: Services, resource: Resource) -> Resource:
    assert isinstance(resource, Setting)  # noqa: S101  # see ADMISSIONS
    check_setting(resource)
    return resource


def _checked_namespace(name: str, field: str) -> None:
    try:
        check_namespace(name)
    except ValueError as error:
        raise InvalidInput(str(error), field=field) from None


ADMISSIONS: dict[type[Resource], Admission] = {
    Backup: Admission(_admit_backup),
    Restore: Admission(_admit_restore),
    Schedule: Admission(_admit_schedule),
    Volume: Admission(_admit_volume, before_create=_ensure_namespace),
    Namespace: Admission(_admit_namespace),
    BackupTarget: Admission(_admit_target),
    Setting: Admission(_admit_setting),
    Verification: Admission(admit_verification),
    Notification: Admission(admit_notification),
    SystemBackup: Admission(admit_system_backup),
    SystemRestore: Admission(admit_system_restore),
}


async def exists(services: Services, resource: Resource) -> bool:
    """Whether the name is taken."""
    try:
        await services.store.get(type(resource), resource.name, resource.namespace)
    except NotFound:
        return False
    return True
