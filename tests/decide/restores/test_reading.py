"""What a restore reads, alike for the API that shows it and the controller that restores it."""

import pytest

from tidegate.decide.restores.reading import RestoreSource, source_in_backup, source_in_store
from tidegate.errors import Refused
from tidegate.model.backups.backup import BackupPhase
from tidegate.model.resource import Condition, Metadata
from tidegate.model.restores.restore import FoundSource, Restore, RestoreSpec
from tidegate.model.transfers.transfer import DATA_REMOVED, TransferPhase
from tidegate.model.transfers.transfer_progress import TransferResult
from tidegate.testing.resources.builders import a_backup, a_transfer

DONE = a_backup("nightly", "shop", phase=BackupPhase.COMPLETED)
ALL = RestoreSpec(backup_name="nightly")


def an_upload(name, *, size=7, removed=False):
    upload = a_transfer(name, TransferPhase.COMPLETED, volume=("shop", name))
    upload = upload.with_spec(store_backup=f"backup-{name}").with_status(result=TransferResult(size=size))
    gone = Condition(type=DATA_REMOVED, status="True")
    return upload.replace(status=upload.status.with_condition(gone)) if removed else upload


def test_it_reads_what_is_wanted_of_the_backup_and_knows_the_sizes_and_what_is_lost():
    kept, lost = an_upload("db", size=9), an_upload("files", removed=True)

    found = source_in_backup(ALL, DONE, [lost, kept])

    assert found == RestoreSource("nightly", [kept.as_source], [lost.spec])
    assert found.sizes == {"backup-db": 9}


def test_it_reads_only_the_volumes_that_are_asked_for():
    found = source_in_backup(ALL.replace(included_volumes=("db",)), DONE, [an_upload("db"), an_upload("files")])

    assert [one.volume_name for one in found.wanted] == ["db"]


@pytest.mark.parametrize("phase", [BackupPhase.IN_PROGRESS, BackupPhase.FAILED])
def test_nothing_is_read_of_a_backup_that_cannot_be_restored(phase):
    with pytest.raises(Refused, match=f"backup nightly is {phase}"):
        source_in_backup(ALL, DONE.with_status(phase=phase), [an_upload("db")])


def test_a_url_names_one_volume_backup_and_only_once_it_was_looked_up():
    named = an_upload("db", size=3).as_source

    assert source_in_store(named) == RestoreSource(None, [named])
    assert source_in_store(named).sizes == {"backup-db": 3}
    with pytest.raises(Refused, match="nobody has looked yet"):
        source_in_store(None)


@pytest.mark.parametrize(
    ("spec", "noted"),
    [
        ({"backup_name": "nightly"}, False),
        ({"schedule_name": "daily"}, True),
        ({"backup_url": "s3://bucket@region/?volume=v&backup=b"}, True),
    ],
)
def test_what_a_request_does_not_name_itself_is_noted_in_its_spec(spec, *, noted):
    restore = Restore(metadata=Metadata(name="r"), spec=RestoreSpec(**spec))
    volume_backup = an_upload("db").as_source
    source = RestoreSource(None if restore.spec.backup_url else "nightly", [volume_backup])

    result = source.noted_on(restore)

    found = FoundSource(backup_name=source.backup, volume_backup=volume_backup if restore.spec.backup_url else None)
    assert result.spec == restore.spec.replace(found=found if noted else None)
    assert result.source_backup == source.backup
