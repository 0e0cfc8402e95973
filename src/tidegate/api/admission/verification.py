"""What a verification is checked against when it is asked for."""

from tidegate.api.admission.backup_choice import chosen_backup
from tidegate.api.services import Services
from tidegate.decide.verification.proof import check_verifiable
from tidegate.errors import InvalidInput
from tidegate.model.resource import Resource
from tidegate.model.verification.verification import VERIFICATION_FINALIZER, CheckCommand, Verification


async def admit_verification(services: Services, resource: Resource) -> Resource:
    """Raises UserError if there is nothing to verify now: later it would be told to nobody."""
    assert isinstance(resource, Verification)  # noqa: S101  # see ADMISSIONS
    spec = resource.spec
    check_verifiable(await chosen_backup(services, spec.backup_name, schedule=spec.schedule_name))
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
