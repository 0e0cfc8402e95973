"""A verification whose server is killed between any two steps goes on, proves everything, and leaves nothing behind."""

import pytest

from tidegate.model.backups.backup import Backup
from tidegate.model.resource import Metadata
from tidegate.model.transfers.transfer import PodVolumeRestore
from tidegate.model.verification.verification import (
    VERIFICATION_FINALIZER,
    CheckCommand,
    Verification,
    VerificationPhase,
    VerificationSpec,
)
from tidegate.testing.resources.builders import a_backup
from tidegate.testing.resources.lives import MortalWorld

# More than a verification of two volumes takes; a test below makes sure of that.
STEPS = 38


async def a_world():
    """A finished backup of two volumes, and somebody who wants it proven."""
    world = await MortalWorld().with_volumes("db", "files")
    await world.store.create(a_backup("b", "shop"))
    await world.live()
    metadata = Metadata(name="v", finalizers=(VERIFICATION_FINALIZER,))
    spec = VerificationSpec(backup_name="b", check=CheckCommand(command=("look",)))
    await world.store.create(Verification(metadata=metadata, spec=spec))
    return world


@pytest.mark.parametrize("step", range(STEPS))
async def test_a_verification_whose_server_dies_after_any_step_is_completed_by_the_next(step):
    world = await a_world()
    await world.live(writes=step)
    await world.live()

    verification = await world.store.get(Verification, "v")
    record = (await world.store.get(Backup, "b")).status.verification
    assert verification.status.phase is VerificationPhase.COMPLETED
    assert len((await world.store.list(PodVolumeRestore)).items) == 2
    assert record is not None
    assert (record.verified_by, record.volumes, record.bytes) == ("v", 2, 2)
    assert world.scratch.made == set()


async def test_the_steps_above_cover_a_whole_verification():
    world = await a_world()

    assert not (await world.live(writes=STEPS - 1)).died
