"""Logs of jobs: what happened to a backup, a restore or a verification and to each of its volumes."""

from datetime import datetime

from fastapi import APIRouter, Depends, Request

from tidegate.api.reads.jobs import transfers_of
from tidegate.api.security.auth import require_token, services_of
from tidegate.model.backups.backup import Backup
from tidegate.model.frozen import Model
from tidegate.model.restores.restore import Restore
from tidegate.model.verification.verification import Verification
from tidegate.views.job_log import job_log

router = APIRouter(dependencies=[Depends(require_token)])


class LogEntry(Model):
    """One thing that happened."""

    at: datetime
    who: str
    """The job, or the volume."""
    what: str
    message: str
    bad: bool
    """Whether something went wrong."""


class JobLog(Model):
    """All that happened, oldest first."""

    data: tuple[LogEntry, ...]


@router.get("/backups/{name}/log", tags=["backups"])
async def backup_log(request: Request, name: str) -> JobLog:
    """What happened to a backup and to each of its volumes, oldest first."""
    return await _log_of(request, Backup, name)


@router.get("/restores/{name}/log", tags=["restores"])
async def restore_log(request: Request, name: str) -> JobLog:
    """What happened to a restore and to each of its volumes, oldest first."""
    return await _log_of(request, Restore, name)


@router.get("/verifications/{name}/log", tags=["verifications"])
async def verification_log(request: Request, name: str) -> JobLog:
    """What happened to a verification and to each of its volumes, oldest first."""
    return await _log_of(request, Verification, name)


async def _log_of(request: Request, kind: type[Backup] | type[Restore] | type[Verification], name: str) -> JobLog:
    services = services_of(request)
    job: Backup | Restore | Verification = await services.store.get(kind, name)
    lines = job_log(job, await transfers_of(services, job))
    return JobLog(
        data=tuple(
            LogEntry(at=line.at, who=line.who, what=line.what, message=line.message, bad=line.bad) for line in lines
        )
    )
