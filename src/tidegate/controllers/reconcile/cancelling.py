"""Cancelling what a reconciler has asked for: the transfers of a job, the backups of a system backup."""

from collections.abc import Iterable
from contextlib import suppress

from tidegate.errors import NotFound, Refused
from tidegate.model.backups.backup import Backup
from tidegate.model.transfers.transfer import Transfer
from tidegate.ports.resource_store import ResourceStore


async def cancel_all(store: ResourceStore, children: Iterable[Transfer | Backup]) -> None:
    """Ask each that still runs to stop. Repeating it writes nothing."""
    for child in children:
        if child.status.phase.final or child.spec.cancel:
            continue
        # One that ends in between needs no cancelling; its end is news by itself.
        with suppress(NotFound, Refused):
            await store.cancel(child.ref, uid=child.metadata.uid)
