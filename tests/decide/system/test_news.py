"""What system backups and restores give to tell."""

import pytest

from tidegate.decide.notifications.news import news_of_end, news_of_schedule
from tidegate.model.backups.backup import BackupPhase
from tidegate.model.notifications.notification import NotificationEvent
from tidegate.model.resource import Metadata
from tidegate.model.restores.restore import RestorePhase
from tidegate.model.schedules.schedule import SCHEDULE_LABEL
from tidegate.model.system.system import SYSTEM_BACKUP_LABEL, SYSTEM_RESTORE_LABEL, SystemBackupPhase, SystemBackupSpec
from tidegate.model.system.system_restore import SystemRestore, SystemRestorePhase, SystemRestoreSpec
from tidegate.testing.resources.builders import THEN, a_backup, a_restore, a_schedule, a_system_backup


@pytest.mark.parametrize("phase", SystemBackupPhase)
def test_only_an_error_of_a_system_backup_is_news(phase):
    system = a_system_backup("s", phase=phase, failure_reason="volume shop/db: the disk is gone")
    news = news_of_end(system)

    assert (news is not None) == (phase is SystemBackupPhase.ERROR)
    if news:
        assert (news.event, news.title) == (NotificationEvent.FAILURE, "System backup s is Error")
        assert news.message == "volume shop/db: the disk is gone"


@pytest.mark.parametrize("phase", SystemRestorePhase)
def test_a_system_restore_that_misses_something_is_news(phase):
    metadata = Metadata(name="back", creation_timestamp=THEN)
    system = SystemRestore(metadata=metadata, spec=SystemRestoreSpec(system_backup="s"))
    news = news_of_end(system.with_status(phase=phase))

    assert (news is not None) == (phase in {SystemRestorePhase.ERROR, SystemRestorePhase.PARTIALLY_FAILED})
    if news:
        assert news.title == f"System restore back is {phase}"


def test_what_is_only_a_part_is_told_by_the_whole():
    backup = a_backup("s-1", phase=BackupPhase.FAILED)
    restore = a_restore("r-1", phase=RestorePhase.FAILED)

    assert news_of_end(backup) is not None
    assert news_of_end(backup.with_metadata(labels={SYSTEM_BACKUP_LABEL: "u"})) is None
    assert news_of_end(restore.with_metadata(labels={SYSTEM_RESTORE_LABEL: "u"})) is None


def test_a_schedule_of_system_backups_works_again_and_misses_times_in_its_own_words():
    phases = (SystemBackupPhase.READY, SystemBackupPhase.ERROR, SystemBackupPhase.READY, SystemBackupPhase.READY)
    runs = [
        a_system_backup(f"s{n}", phase=phase, completion_timestamp=THEN.replace(hour=n)).with_metadata(
            labels={SCHEDULE_LABEL: "system"}
        )
        for n, phase in enumerate(phases)
    ]
    schedule = a_schedule("system", "@hourly", system_backup=SystemBackupSpec())
    news = news_of_schedule(schedule.with_status(missed_runs=2, last_missed_at=THEN), runs)

    assert [one.title for one in news] == [
        "Schedule system works again: system backup s2 is Ready",
        "Schedule system missed system backups while no server was there",
    ]
    assert news[0].message == "the one before it, s1, was Error"
