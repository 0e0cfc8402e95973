"""What a verification is checked against when it is asked for."""

from tidegate.api.services import Services
from tidegate.decide.verification.proof import check_verifiable
from tidegate.decide.volumes.selection import newest_good_backup
from tidegate.errors import InvalidInput
from tidegate.model.backups.backup import Backup
from tidegate.model.labels import Selector
from tidegate.model.resource import Resource
from tidegate.model.schedules.schedule import SCHEDULE_LABEL, Schedule
from tidegate.model.verification.verification import VERIFICATION_FINALIZER, CheckCommand, Verification


async def admit_verification(services: Services, resource: Resource) -> Resource:
    """Raises UserError if there is nothing to verify now: later it would be told to nobody."""
    assert isinstance(resource, Verification)  # noqa: S101  # see ADMISSIONS
    spec = resource.spec
    if spec.schedule_name is not None:
        selector = Selector.matching({SCHEDULE_LABEL: spec.schedule_name})
        backups = (await services.store.list(Backup, selector=selector)).items
        if not backups:  # a mistyped name is told as such
            await services.store.get(Schedule, spec.schedule_name)
        newest_good_backup(spec.schedule_name, backups)
    else:
        check_verifiable(await services.store.get(Backup, spec.backup_name or ""))
    await check_command(services, spec.check, "spec.check")
    return resource.with_metadata(finalizers=(VERIFICATION_FINALIZER,))


async def check_command(services: Services, check: CheckCommand | None, field: str) -> None:
    """Whoever names a command that cannot be run hears it now, not from a verification that fails at night."""
    if check is None:
        return
    try:
        await services.hooks.check(check.command)
    except InvalidInput as error:
        raise InvalidInput(error.message, field=f"{field}.command", hint=error.hint) from None
