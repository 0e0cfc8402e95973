"""Verifications beyond what every kind has: cancelling one."""

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse

from tidegate.api.security.auth import require_token, services_of
from tidegate.model.resource import Ref
from tidegate.model.verification.verification import Verification

router = APIRouter(tags=["verifications"], dependencies=[Depends(require_token)])


@router.post("/verifications/{name}/cancel", status_code=202, responses={202: {"model": Verification}})
async def cancel(request: Request, name: str) -> JSONResponse:
    """Call a verification off; it removes what it restored and ends as Canceled, or as what it was if done first."""
    cancelled = await services_of(request).store.cancel(Ref("Verification", name))
    return JSONResponse(cancelled.to_wire(), status_code=202)
