"""Where deletes are asked for: the wish is stored, then the lists are told. Nothing here touches a store of backups.

The record in the resource store is the truth; what the catalogue hides follows from it, also after the catalogue was
made anew.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from tidegate.controllers.reconcile.observation import all_of, all_transfers
from tidegate.decide.stores.deletions import wanted_gone, why_not_ask
from tidegate.errors import AlreadyExists, InvalidInput, NotFound, Refused, StaleVersion
from tidegate.format.cfgs.paths import check_name
from tidegate.model.labels import Selector
from tidegate.model.resource import Metadata, Ref
from tidegate.model.stores.deletion import STORE_VOLUME_LABEL, Deletion, DeletionSpec, store_volume_mark
from tidegate.model.stores.target import BackupTarget
from tidegate.model.transfers.transfer import Transfer
from tidegate.ports.catalogue import Catalogue
from tidegate.ports.resource_store import ResourceStore

MOST_AT_ONCE = 10_000
_ATTEMPTS = 5


@dataclass
class DeletionDesk:
    """Keeps the promise of Deletions. Without a catalogue there are no lists to tell."""

    store: ResourceStore
    catalogue: Catalogue | None = None

    async def ask(self, target: str, volume: str, backups: Sequence[str] | None = None) -> Deletion:
        """See Deletions."""
        names = _checked(volume, backups)
        url = (await self.store.get(BackupTarget, target)).spec.url
        transfers = await all_transfers(self.store, _of_volume(target, volume))
        if why := why_not_ask(names, transfers):
            raise Refused(f"{why}; nothing was deleted", hint="wait for it, or cancel it first")
        name = "deletion-" + sha256("/".join([target, volume, *sorted(names)]).encode()).hexdigest()[:16]
        spec = DeletionSpec(target=target, url=url, volume=volume, backups=names)
        return await self._hidden(await self._stored(name, spec))

    async def ask_for(self, upload: Transfer) -> Deletion:
        """Delete what an upload wrote, because its own record goes. Raises NotFound if its target is not known."""
        wanted = upload.spec
        name = f"upload-{upload.metadata.uid}"
        try:
            return await self.store.get(Deletion, name)
        except NotFound:
            url = (await self.store.get(BackupTarget, wanted.target)).spec.url
        spec = DeletionSpec(
            target=wanted.target,
            url=url,
            volume=wanted.store_volume,
            backups=(wanted.store_backup,),
            upload=f"{upload.kind}/{upload.name}",
        )
        return await self._hidden(await self._stored(name, spec))

    async def cancel(self, name: str) -> Deletion:
        """See Deletions."""
        deletion = await self.store.get(Deletion, name)
        if deletion.spec.cancel:
            raise Refused(f"deletion {name} is cancelled already")
        cancelled = await self.store.cancel(deletion.ref, uid=deletion.metadata.uid)
        assert isinstance(cancelled, Deletion)  # noqa: S101  # its ref says so
        await self.show_again(cancelled)
        return cancelled

    async def list(self, *, target: str = "", volume: str = "") -> list[Deletion]:
        """See Deletions."""
        selector = _of_volume(target, volume) if target and volume else Selector()
        found = [
            deletion
            for deletion in await all_of(self.store, Deletion, selector)
            if deletion.spec.target == (target or deletion.spec.target)
            and deletion.spec.volume == (volume or deletion.spec.volume)
        ]
        return sorted(found, key=lambda one: (str(one.metadata.creation_timestamp), one.name), reverse=True)

    async def show_again(self, deletion: Deletion) -> None:
        """It wants nothing hidden any more; what others of the volume want hidden stays so."""
        if self.catalogue is None:
            return
        target, volume = deletion.spec.target, deletion.spec.volume
        others = [one for one in await self.list(target=target, volume=volume) if one.name != deletion.name]
        kept = wanted_gone(others).get((target, volume), frozenset())
        names = [name for name in deletion.spec.backups or [""] if name not in kept]
        if names:
            await self.catalogue.unhide(target, volume, *filter(None, names))

    async def hide_all(self) -> None:
        """Before anyone looks at a list: what is wanted gone is in none, and nothing else is missing."""
        if self.catalogue is None:
            return
        wanted = wanted_gone(await all_of(self.store, Deletion))
        for (target, volume), names in wanted.items():
            await self._hide(target, volume, names)
        for target in {one.name for one in await all_of(self.store, BackupTarget)}:
            for volume, backup in await self.catalogue.hidden(target):
                if backup not in wanted.get((target, volume), ()):
                    await self.catalogue.unhide(target, volume, *filter(None, [backup]))

    async def _hidden(self, deletion: Deletion) -> Deletion:
        if self.catalogue is not None:
            await self._hide(deletion.spec.target, deletion.spec.volume, deletion.spec.backups or [""])
        return deletion

    async def _hide(self, target: str, volume: str, names: Sequence[str] | frozenset[str]) -> None:
        assert self.catalogue is not None  # noqa: S101  # the callers know
        if "" in names:
            await self.catalogue.hide(target, volume)
        if single := [name for name in names if name]:
            await self.catalogue.hide(target, volume, *single)

    async def _stored(self, name: str, spec: DeletionSpec) -> Deletion:
        """The one that is under way, or a new one in place of one that is over."""
        labels = {STORE_VOLUME_LABEL: store_volume_mark(spec.target, spec.volume)}
        wanted = Deletion(metadata=Metadata(name=name, labels=labels), spec=spec)
        for _ in range(_ATTEMPTS):
            try:
                return await self.store.create(wanted)
            except AlreadyExists:
                earlier = await self._earlier(name)
            if earlier is not None:
                return earlier
        raise StaleVersion(f"deletion {name} changes too often to be asked for again", hint="try again")

    async def _earlier(self, name: str) -> Deletion | None:
        try:
            earlier = await self.store.get(Deletion, name)
            if earlier.status.phase.final or earlier.spec.cancel:
                await self.store.delete(Ref("Deletion", name), uid=earlier.metadata.uid)
                return None
        except NotFound:
            return None
        return earlier


def _of_volume(target: str, volume: str) -> Selector:
    return Selector.matching({STORE_VOLUME_LABEL: store_volume_mark(target, volume)})


def _checked(volume: str, backups: Sequence[str] | None) -> tuple[str, ...]:
    """Names as they are stored. What could lead out of the volume's directory is never stored at all."""
    check_name(volume, what="volume")
    if backups is None:
        return ()
    names = tuple(dict.fromkeys(check_name(backup, what="backup") for backup in backups))
    if not names:
        raise InvalidInput("no backup is named; name at least one, or delete the whole volume", field="backups")
    if len(names) > MOST_AT_ONCE:
        raise InvalidInput(f"at most {MOST_AT_ONCE} backups are deleted at once, not {len(names)}", field="backups")
    return names
