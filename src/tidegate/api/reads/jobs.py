"""How far jobs are now, in bytes: what is written down is as old as their last step."""

from typing import TypeGuard

from tidegate.api.services import Services
from tidegate.model.backups.backup import Backup
from tidegate.model.backups.byte_progress import JobBytes
from tidegate.model.job_progress import progress_of
from tidegate.model.labels import Selector
from tidegate.model.resource import Resource
from tidegate.model.restores.restore import Restore
from tidegate.model.transfers.transfer import (
    BACKUP_LABEL,
    DOWNLOADS,
    RESTORE_LABEL,
    UPLOADS,
    VERIFICATION_LABEL,
    Transfer,
)
from tidegate.model.verification.verification import Verification


def moves_bytes(resource: Resource) -> TypeGuard[Backup | Restore | Verification]:
    """Whether it is settled which volumes belong to it, and it is not over."""
    if not isinstance(resource, Backup | Restore | Verification):
        return False
    return resource.status.progress is not None and not resource.status.phase.final


async def with_bytes_now(services: Services, resource: Resource) -> Resource:
    """The same with the bytes, the rate and the time left as its transfers tell them now."""
    if not moves_bytes(resource):
        return resource
    progress = progress_of(resource, await transfers_of(services, resource))
    return resource.with_status(bytes=JobBytes.of(progress))


async def transfers_of(services: Services, job: Backup | Restore | Verification) -> list[Transfer]:
    """All transfers that it has made."""
    kinds, label = _TRANSFERS[job.kind]
    mine = Selector.matching({label: job.metadata.uid})
    return [one for kind in kinds for one in (await services.store.list(kind, selector=mine)).items]


_TRANSFERS = {
    "Backup": (UPLOADS, BACKUP_LABEL),
    "Restore": (DOWNLOADS, RESTORE_LABEL),
    "Verification": (DOWNLOADS, VERIFICATION_LABEL),
}
