"""Carries the item blocks of a backup on: looks, lets `decide.block_steps` decide, and does what it says.

What a block is about to do is stored before it is done. So whoever finds the record after a crash knows of every hook
that may have run.
"""

from dataclasses import dataclass

from tidegate.controllers.backups.hook_supervisor import HookSupervisor
from tidegate.controllers.backups.uploads import refused_upload, upload_for
from tidegate.decide.backups.block_steps import BlockSight, BlockSteps, next_steps
from tidegate.errors import AlreadyExists, NotFound
from tidegate.model.backups.backup import Backup
from tidegate.model.transfers.transfer import ATTEMPT_LABEL, Transfer
from tidegate.model.volumes.volume import Volume
from tidegate.ports.resource_store import ResourceStore


def of_attempt(backup: Backup, upload: Transfer) -> bool:
    """Whether the upload is of the backup's present attempt, not of one that an interruption ended."""
    return upload.metadata.labels.get(ATTEMPT_LABEL) == str(backup.status.attempt)


@dataclass
class Found:
    """The steps of a backup's blocks, and the volumes that they are about."""

    steps: BlockSteps
    volumes: dict[str, Volume]
    """Those that are to be uploaded or refused, and still exist."""


@dataclass
class BackupBlocks:
    """The workers of all backups. Nothing is kept here that the store and the hooks under way do not tell."""

    store: ResourceStore
    hooks: HookSupervisor

    async def look(
        self, backup: Backup, uploads: list[Transfer], *, workers: int, ending: bool, overdue: bool = False
    ) -> Found:
        """What is to be done now."""
        sight = BlockSight(
            hooks=backup.spec.hooks,
            uploads={f"{u.spec.volume_namespace}/{u.spec.volume_name}": u for u in uploads},
            results=self.hooks.results(backup),
            workers=workers,
            gone=frozenset(backup.status.gone_volumes),
            ending=ending,
            overdue=overdue,
        )
        steps = next_steps(backup.status.blocks, backup.status.hook_status, sight)
        volumes = {name: volume for name in (*steps.upload, *steps.refuse) if (volume := await self._volume(name))}
        return Found(steps, volumes)

    async def refuse(self, backup: Backup, found: Found) -> list[Transfer]:
        """Uploads that hooks did not let happen, made as refused ones; before the record says that this was done."""
        made = [
            refused_upload(backup, found.volumes[n], why) for n, why in found.steps.refuse.items() if n in found.volumes
        ]
        for upload in made:
            await self._create(upload)
        return made

    def noted(self, backup: Backup, found: Found) -> Backup:
        """The backup as it shall be stored."""
        steps = found.steps
        gone = [name for name in (*steps.upload, *steps.refuse) if name not in found.volumes]
        return backup.with_status(
            blocks=tuple(steps.blocks),
            hook_status=steps.hook_status,
            gone_volumes=tuple(dict.fromkeys((*backup.status.gone_volumes, *gone))),
        )

    async def apply(self, before: Backup, after: Backup, found: Found) -> None:
        """Store it, then do it. Writes nothing if nothing differs."""
        await self.store.update_status(after)
        self.hooks.remember(after)
        self.hooks.forget(before, found.steps.counted)
        for name in found.steps.upload:
            if name in found.volumes:
                await self._create(upload_for(before, found.volumes[name]))
        for block, stage in found.steps.run:
            self.hooks.ensure(before, block, stage)
        for key in found.steps.stop:
            self.hooks.stop(before, key)

    async def release(self, backup: Backup, uploads: list[Transfer], *, overdue: bool) -> bool:
        """Run the post hooks that a backup which is being deleted owes; whether none is left."""
        found = await self.look(backup, uploads, workers=1, ending=True, overdue=overdue)
        await self.apply(backup, self.noted(backup, found), found)
        return not found.steps.blocks

    async def _volume(self, name: str) -> Volume | None:
        namespace, _, volume = name.partition("/")
        try:
            return await self.store.get(Volume, volume, namespace)
        except NotFound:
            return None

    async def _create(self, upload: Transfer) -> None:
        try:
            await self.store.create(upload)
        except AlreadyExists:
            return  # we were here before: the name is made of the backup's uid and the volume
