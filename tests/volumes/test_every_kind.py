"""No kind of volume is forgotten: each is opened, measured and looked at, or refused in a sentence."""

from datetime import UTC, datetime

import pytest

from tidegate.app.machine.volume_probe import LocalVolumeProbe
from tidegate.decide.restores.places import placements, volumes_written
from tidegate.decide.restores.plan import PlanSurroundings, plan_restore
from tidegate.decide.transfers.leftovers import left_behind
from tidegate.errors import DestinationUnusable, SourceUnreadable
from tidegate.model.restores.restore import RestoreSpec
from tidegate.model.transfers.mover_job import MOVER_DIED, DownloadJob, ErrorReport, TargetAccess, UploadJob
from tidegate.model.transfers.transfer import DataDownload, TransferPhase, TransferSpec
from tidegate.model.volumes.volume_ref import Claim, Device, Directory, Image, volume_fields
from tidegate.testing.resources.builders import a_transfer
from tidegate.testing.resources.volume_refs import ONE_OF_EACH, a_volume_at
from tidegate.volumes.open import open_sink, open_source

NOW = datetime(2026, 1, 31, tzinfo=UTC)
IN_STORE = {"target": TargetAccess(url="file:///store"), "store_volume": "shop.db", "store_backup": "backup-1"}
NOT_HERE = "claim shop/data exists on a Kubernetes cluster only; name a directory, an image or a device"

each = pytest.mark.parametrize("ref", ONE_OF_EACH, ids=lambda ref: ref.kind)


@each
def test_a_volume_that_is_not_there_is_refused_as_a_source_by_its_address(ref):
    job = UploadJob(**IN_STORE, **volume_fields(ref), snapshot_name="s", started_at=NOW)

    with pytest.raises(SourceUnreadable) as refused:
        open_source(job, block_size=2 << 20, base=None, settled_before=NOW, still_wanted=lambda: None)

    assert ref.address in refused.value.message
    assert not isinstance(ref, Claim) or refused.value.message == NOT_HERE


@pytest.mark.parametrize("ref", [ref for ref in ONE_OF_EACH if not ref.kind.is_tree], ids=lambda ref: ref.kind)
def test_only_what_holds_files_is_restored_in_part(ref):
    with pytest.raises(DestinationUnusable, match="only a file tree can be restored in part"):
        open_sink(DownloadJob(**IN_STORE, **volume_fields(ref), includes=("a",)))


def test_a_claim_is_no_place_to_restore_to_on_one_machine():
    with pytest.raises(DestinationUnusable) as refused:
        open_sink(DownloadJob(**IN_STORE, **volume_fields(Claim("shop", "data"))))

    assert refused.value.message == NOT_HERE


@each
async def test_a_probe_answers_for_each(ref):
    probe = LocalVolumeProbe()

    with pytest.raises(SourceUnreadable, match=ref.address):
        await probe.measure(ref)
    assert await probe.changed_since(ref, NOW)
    assert await probe.users_of([ref]) == {}
    assert (NOT_HERE in (await probe.look_at(ref)).in_the_way) == isinstance(ref, Claim)


@each
async def test_a_restore_is_planned_to_each_and_writes_to_that_volume(ref):
    volume = a_volume_at(ref)
    volumes = {(volume.namespace, volume.name): volume}
    source = TransferSpec.of(volume, target="store", store_volume="shop.db", store_backup="backup-1")
    asked = RestoreSpec(backup_name="b", force=True)
    found = placements(asked, [source], volumes)
    places = {ref: await LocalVolumeProbe().look_at(ref)}

    plan = plan_restore(asked, found, PlanSurroundings(places=places, sizes={}), backup="b")

    (planned,) = plan.volumes
    assert (planned.kind, planned.destination, planned.place) == (ref.kind, ref.address, places[ref])
    assert volumes_written(found, volumes) == ("shop/db",)
    if isinstance(ref, Claim):
        assert [one.message for one in plan.conflicts] == [f"shop/data cannot be made: {NOT_HERE}"]


@pytest.mark.parametrize(
    ("ref", "sentence"),
    [
        (Directory("/srv/files"), "may be left in /srv/.files.tidegate-*"),
        (Image("/srv/disk.img"), "may be left in /srv/.disk.img.tidegate-*"),
        (Device("/dev/sdz"), "/dev/sdz is half written"),
        (Claim("shop", "data"), ""),
    ],
)
def test_what_a_killed_restore_left_is_said_for_each(ref, sentence):
    moving = a_transfer("one", TransferPhase.IN_PROGRESS, kind=DataDownload)

    said = left_behind(moving.replace(spec=moving.spec.at(ref)), ErrorReport(code=MOVER_DIED, message="killed"))

    assert sentence in said
    assert bool(said) == bool(sentence)
