"""Verifications beyond what every kind has: cancelling one."""

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse

from tidegate.api.security.auth import require_token, services_of
from tidegate.errors import Refused, StaleVersion
from tidegate.model.verification.verification import Verification

router = APIRouter(tags=["verifications"], dependencies=[Depends(require_token)])

# The controllers write into the same status; whoever comes second looks again.
_ATTEMPTS = 5


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
