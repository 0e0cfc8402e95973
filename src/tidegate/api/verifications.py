"""Verifications beyond what every kind has: what is checked when one is asked for, and calling one off."""

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse

from tidegate.api.auth import require_token, services_of
from tidegate.api.services import Services
from tidegate.decide.selection import newest_good_backup
from tidegate.decide.verification import check_verifiable
from tidegate.errors import InvalidInput, Refused, StaleVersion
from tidegate.model.backup import Backup
from tidegate.model.labels import Selector
from tidegate.model.resource import Resource
from tidegate.model.schedule import SCHEDULE_LABEL, Schedule
from tidegate.model.verification import VERIFICATION_FINALIZER, CheckCommand, Verification

router = APIRouter(tags=["verifications"], dependencies=[Depends(require_token)])

# The controllers write into the same status; whoever comes second looks again.
_ATTEMPTS = 5


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


@router.post("/verifications/{name}/cancel", status_code=202, responses={202: {"model": Verification}})
async def cancel(request: Request, name: str) -> JSONResponse:
    """Call a verification off; it removes what it restored and ends as Canceled, or as what it was if done first."""
    services = services_of(request)
    for _ in range(_ATTEMPTS):
        verification = await services.store.get(Verification, name)
        if verification.status.phase.final or verification.deleting:
            state = "is being deleted" if verification.deleting else f"is {verification.status.phase}"
            raise Refused(f"verification {name} {state}; there is nothing to cancel")
        try:
            if not verification.spec.cancel:
                verification = await services.store.update(verification.with_spec(cancel=True))
            return JSONResponse(verification.to_wire(), status_code=202)
        except StaleVersion:
            continue
    raise StaleVersion(f"verification {name} changes too often to be cancelled", hint="try again")
