"""Accepting the store that is there now in place of the one that a target had."""

from tidegate.api.admission.changes import changed
from tidegate.api.services import Services
from tidegate.errors import InvalidInput, Refused
from tidegate.model.stores.target import ADOPT_STORE, BackupTarget


async def adopt_store(services: Services, name: str, *, mark: str) -> BackupTarget:
    """Say that the store behind the target is meant to be another one; `mark` is what its status says of that change.

    The word is stored, so a restart does not forget it, and it stands for nothing but this change.
    """

    def adopted(target: BackupTarget) -> BackupTarget:
        _check_mark(target, mark)
        return target.with_metadata(annotations={**target.metadata.annotations, ADOPT_STORE: mark})

    return await changed(services.store, BackupTarget, name, adopted)


def _check_mark(target: BackupTarget, mark: str) -> None:
    meant = target.status.store.adopt
    if not meant:
        raise Refused(f"target {target.name} leads to its own store; there is nothing to adopt")
    if mark != meant:
        raise InvalidInput(
            f"what is there in place of the store of target {target.name} is {meant}, not {mark[:80]!r}",
            field="mark",
            hint=f"look at it again: tidegate target describe {target.name}",
        )
