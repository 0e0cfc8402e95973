"""Rows and descriptions of each kind."""

from datetime import timedelta, timezone

import pytest

from tidegate.decide.jobs.events import with_events
from tidegate.model.backups.backup import BackupPhase, BackupProgress, LabelSelector
from tidegate.model.backups.byte_progress import JobBytes
from tidegate.model.backups.hooks import HookStatus
from tidegate.model.backups.item_block import BlockPhase, BlockProgress
from tidegate.model.reasons import Reason
from tidegate.model.resource import Condition, Metadata, OwnerReference
from tidegate.model.restores.restore import Restore, RestoreSpec
from tidegate.model.setting import Setting, SettingSpec
from tidegate.model.stores.target import StoreIdentity
from tidegate.model.transfers.node import Node, NodeStatus
from tidegate.model.transfers.transfer import TransferPhase
from tidegate.model.transfers.transfer_progress import TransferProgress, TransferResult
from tidegate.model.volumes.protection import VolumeProtection
from tidegate.model.volumes.volume import Namespace
from tidegate.testing.resources.builders import THEN, a_backup, a_target, a_transfer, a_volume, emptied, freezing
from tidegate.views.backups.backup import BACKUPS, describe_backup, queue_sentence
from tidegate.views.phases import phase_tone
from tidegate.views.reader import Reader
from tidegate.views.restores.restore import RESTORES, describe_restore, restore_source
from tidegate.views.setting import SETTINGS
from tidegate.views.stores.target import TARGETS, describe_target
from tidegate.views.table import Tone
from tidegate.views.transfers.node import NODES
from tidegate.views.transfers.transfer import TRANSFER_TABLE, describe_transfer
from tidegate.views.volumes.namespace import NAMESPACES
from tidegate.views.volumes.volume import VOLUMES, describe_volume

READER = Reader(now=THEN + timedelta(minutes=3, seconds=12))


def row(view, resource, *, wide=True):
    titles = [column.title for column in view.shown(wide=wide)]
    cells = view.row(resource, READER, wide=wide)
    return {title: cell.text for title, cell in zip(titles, cells, strict=True)}


def told(sections):
    return {(section.heading, label): value for section in sections for label, value in section.lines}


def waiting(backup):
    status = backup.status.waiting(Reason.CONCURRENCY_LIMIT, "1 of 1 run", since=THEN)
    return backup.replace(status=status.replace(queue_position=2, phase=BackupPhase.QUEUED))


def test_a_waiting_backup_shows_its_place_and_its_reason():
    backup = waiting(a_backup("nightly", "shop", excluding="tmp"))

    assert row(BACKUPS, backup) == {
        "NAME": "nightly",
        "STATUS": "Queued",
        "QUEUE": "2",
        "WAITS FOR": "ConcurrencyLimit",
        "DONE": "",
        "SIZE": "",
        "ITEMS": "",
        "ERRORS": "0",
        "WARNINGS": "0",
        "AGE": "3m12s",
        "EXPIRES": "",
        "VERIFIED": "",
        "NAMESPACES": "shop without tmp",
        "TARGET": "store",
        "PRIORITY": "0",
        "STARTED": "",
        "TOOK": "",
        "MESSAGE": "1 of 1 run",
    }


@pytest.mark.parametrize(
    ("phase", "told", "done", "size"),
    [
        (BackupPhase.IN_PROGRESS, JobBytes(done=512, total=2048, percent=25), "25 %", "2.0 KiB"),
        (BackupPhase.IN_PROGRESS, JobBytes(done=512, total=2048, volumes_not_measured=1), "512 B", "at least 2.0 KiB"),
        (BackupPhase.COMPLETED, JobBytes(done=2048, total=2048, percent=100), "", "2.0 KiB"),
        (BackupPhase.PARTIALLY_FAILED, JobBytes(done=1024, total=2048, percent=50), "", "1.0 KiB"),
        (BackupPhase.NEW, None, "", ""),
    ],
)
def test_a_backup_tells_percent_while_it_runs_and_its_size(phase, told, done, size):
    shown = row(BACKUPS, a_backup("nightly", phase=phase).with_status(bytes=told, start_timestamp=THEN))

    assert (shown["DONE"], shown["SIZE"]) == (done, size)
    assert shown["STARTED"] == "2026-01-01 00:00:00+00:00"


def test_the_description_of_a_waiting_backup_says_since_when():
    lines = told(describe_backup(waiting(a_backup("nightly")), [], READER))

    assert lines["Waiting", "Queue position"] == "2"
    assert lines["Waiting", "Reason"] == "ConcurrencyLimit"
    assert lines["Waiting", "Message"] == "1 of 1 run"
    assert lines["Waiting", "Since"] == "2026-01-01 00:00:00+00:00 (3m12s ago)"
    assert lines["Contents", "Namespaces"] == "all"


def test_the_description_of_a_running_backup_has_bytes_and_each_volume():
    backup = a_backup("nightly", phase=BackupPhase.IN_PROGRESS).with_status(
        progress=BackupProgress(total_items=2, items_backed_up=1), start_timestamp=THEN
    )
    progress = TransferProgress(stage="uploading", bytes_done=512, total_bytes=1024, bytes_per_second=256.0)
    result = TransferResult(url="file:///s?backup=b", size=1024, new_bytes=100, warnings=("a file changed",))
    transfers = [
        a_transfer("two", TransferPhase.IN_PROGRESS, volume=("shop", "b")).with_status(progress=progress),
        a_transfer("one", TransferPhase.COMPLETED, volume=("shop", "a")).with_status(result=result),
    ]

    sections = describe_backup(backup, transfers, READER)
    lines = told(sections)

    assert [section.heading for section in sections if section.heading.startswith("Volume")] == [
        "Volume shop/a",
        "Volume shop/b",
    ]
    assert lines["Progress", "Items"] == "1 of 2"
    assert lines["Progress", "Bytes"] == "1.5 KiB of 2.0 KiB (75 %)"
    assert lines["Progress", "Left"] == "2s"
    assert lines["Volume shop/a", "URL"] == "file:///s?backup=b"
    assert lines["Volume shop/a", "New in the store"] == "100 B, 9 % of the 1.0 KiB backed up"
    assert lines["Volume shop/a", "Warning"] == "a file changed"
    assert lines["Volume shop/b", "Rate"] == "256 B/s"
    assert lines["Times", "Took"] == "3m12s"


def test_the_description_of_a_failed_backup_says_why():
    backup = a_backup("nightly", phase=BackupPhase.FAILED).with_status(
        failure_reason="the store is full", errors=2, validation_errors=("ttl is too short",)
    )
    lines = told(describe_backup(backup, [a_transfer("t", TransferPhase.FAILED, message="no space")], READER))

    assert lines["Problems", "Failure"] == "the store is full"
    assert lines["Problems", "Invalid"] == "ttl is too short"
    assert lines["Problems", "Errors"] == "2"
    assert lines["Volume ns/volume", "Message"] == "no space"


def test_a_selector_is_written_as_it_is_typed():
    backup = a_backup("nightly").with_spec(label_selector=LabelSelector(match_labels={"app": "shop"}))

    assert told(describe_backup(backup, [], READER))["Contents", "Selector"] == "app=shop"


@pytest.mark.parametrize(
    ("backup", "sentence"),
    [
        (a_backup("n"), "Backup n would start at once."),
        (waiting(a_backup("n")), "Backup n would be number 2 in the queue, because of ConcurrencyLimit: 1 of 1 run"),
        (a_backup("n").with_status(queue_position=4), "Backup n would be number 4 in the queue."),
    ],
)
def test_the_place_in_the_queue_is_one_sentence(backup, sentence):
    assert queue_sentence(backup, dry_run=True) == sentence


def test_a_backup_that_was_asked_for_is_told_its_place():
    told_now = queue_sentence(waiting(a_backup("n")), dry_run=False)

    assert told_now == "Backup n is number 2 in the queue, because of ConcurrencyLimit: 1 of 1 run"
    assert queue_sentence(a_backup("n"), dry_run=False) == "Backup n starts at once."


def test_a_name_that_matches_nothing_is_told_as_soon_as_the_backup_is_made():
    backup = a_backup("n").with_status(unmatched=("no volume is in namespace blgo (did you mean blog?)",))

    assert queue_sentence(backup, dry_run=False).splitlines() == [
        "Backup n starts at once.",
        "Warning: no volume is in namespace blgo (did you mean blog?).",
    ]
    problems = told(describe_backup(backup, [], READER))
    assert problems["Problems", "Not found"] == "no volume is in namespace blgo (did you mean blog?)"


@pytest.mark.parametrize(("allowed", "tone"), [(True, Tone.WAITING), (False, Tone.BAD)])
def test_a_backup_that_holds_nothing_is_never_green_in_a_list(allowed, tone):
    backup = emptied(a_backup("n", phase=BackupPhase.COMPLETED)).with_spec(allow_empty=allowed)

    status = BACKUPS.row(backup, READER, wide=False)[1]

    assert (status.text, status.tone) == ("Completed, empty", tone)


@pytest.mark.parametrize(
    ("state", "tone"), [("Protected", Tone.GOOD), ("NoSchedule", Tone.WAITING), ("Late", Tone.BAD), ("Never", Tone.BAD)]
)
def test_only_a_protected_volume_is_green_in_a_list(state, tone):
    why = VolumeProtection(state=state, message="because", schedules=("nightly",))
    volume = a_volume("shop", "db").with_status(protection=why)

    cell = VOLUMES.row(volume, READER, wide=False)[2]

    assert (cell.text, cell.tone) == (state, tone)
    lines = told(describe_volume(volume, READER))
    assert (lines["Protection", "State"], lines["Protection", "Why"]) == (state, "because")


def test_what_is_being_deleted_says_so():
    backup = a_backup("n", phase=BackupPhase.COMPLETED).with_metadata(deletion_timestamp=THEN)

    assert row(BACKUPS, backup)["STATUS"] == "Deleting"


@pytest.mark.parametrize(
    ("phase", "tone"),
    [
        ("Completed", Tone.GOOD),
        ("PartiallyFailed", Tone.BAD),
        ("FinalizingPartiallyFailed", Tone.BAD),
        ("Queued", Tone.WAITING),
        ("InProgress", Tone.BUSY),
    ],
)
def test_phases_have_tones(phase, tone):
    assert phase_tone(phase) is tone


def a_restore(**spec):
    return Restore(metadata=Metadata(name="look", creation_timestamp=THEN), spec=RestoreSpec(**spec))


@pytest.mark.parametrize(
    ("spec", "source"),
    [
        ({"backup_name": "nightly"}, "nightly"),
        ({"schedule_name": "daily"}, "newest of schedule daily"),
        ({"backup_url": "s3://b@r/?backup=x"}, "s3://b@r/?backup=x"),
    ],
)
def test_a_restore_names_its_source(spec, source):
    assert restore_source(a_restore(**spec)) == source
    assert row(RESTORES, a_restore(**spec))["FROM"] == source


def test_the_description_of_a_restore_says_where_it_goes():
    restore = a_restore(backup_name="n", destination="/look", namespace_mapping={"shop": "copy"})
    lines = told(describe_restore(restore, [], READER))

    assert lines["Contents", "To"] == "/look"
    assert lines["Contents", "Existing data"] == "left alone"
    assert lines["Contents", "Renamed"] == "shop to copy"


def test_a_volume_that_nobody_protected_stands_out():
    never = a_volume("shop", "db", tier="data")
    protected = never.with_status(last_backup="nightly", last_backup_at=THEN, size=2048)

    assert row(VOLUMES, never)["LAST BACKUP"] == "never"
    assert row(VOLUMES, protected)["LAST BACKUP"] == "nightly"
    assert row(VOLUMES, protected)["BACKED UP"] == "3m12s"
    assert told(describe_volume(protected, READER))["Last backup", "Size"] == "2.0 KiB"


@pytest.mark.parametrize(("available", "text"), [(None, "not checked"), (True, "yes"), (False, "no")])
def test_a_target_says_whether_it_answers(available, text):
    target = a_target("store").with_status(available=available)

    assert row(TARGETS, target)["AVAILABLE"] == text
    assert told(describe_target(target, READER))["State", "Available"] == text


def test_a_target_whose_store_is_another_one_shows_which_was_expected_which_is_there_and_what_to_type():
    store = StoreIdentity(identity="mine", url="file:///somewhere", found="theirs", adopt="abc123")
    target = a_target("store").with_status(available=False, store=store)

    assert row(TARGETS, target)["AVAILABLE"] == "another store"
    lines = told(describe_target(target, READER))
    assert [lines["Which store", line] for line in ("Identity", "Found instead", "If that is right")] == [
        "mine",
        "theirs",
        "tidegate target adopt store",
    ]


def test_a_moving_transfer_shows_rate_and_time_left_and_a_waiting_one_its_reason():
    progress = TransferProgress(bytes_done=512, total_bytes=1024, bytes_per_second=256.0)
    moving = row(TRANSFER_TABLE, a_transfer("t", TransferPhase.IN_PROGRESS).with_status(progress=progress))
    held = a_transfer("t")
    held = held.replace(status=held.status.waiting(Reason.NODE_LOAD, "node a is full", since=THEN))

    assert (moving["DONE"], moving["RATE"], moving["LEFT"]) == ("512 B of 1.0 KiB (50 %)", "256 B/s", "2s")
    assert row(TRANSFER_TABLE, a_transfer("t", TransferPhase.IN_PROGRESS))["LEFT"] == ""
    assert row(TRANSFER_TABLE, held)["WAITS FOR"] == "NodeLoad"
    assert told(describe_transfer(held, READER))["Waiting", "Message"] == "node a is full"


def test_a_stalled_volume_is_told_where_its_backup_is_described_and_in_its_own_row():
    stalled = Condition(type="Stalled", status="True", message="no progress since 12:00:00 UTC")
    transfer = a_transfer("t", TransferPhase.IN_PROGRESS, volume=("shop", "db")).with_status(conditions=(stalled,))

    lines = told(describe_backup(a_backup("b", phase=BackupPhase.IN_PROGRESS), [transfer], READER))

    assert lines["Volume shop/db", "Stalled"] == "no progress since 12:00:00 UTC"
    assert row(TRANSFER_TABLE, transfer)["MESSAGE"] == "no progress since 12:00:00 UTC"


def test_the_description_of_a_transfer_tells_what_happened():
    accepted = a_transfer("t", TransferPhase.ACCEPTED, node="node-a")
    owner = OwnerReference(kind="Restore", name="look", uid="u")
    transfer = with_events(a_transfer("t"), accepted, now=THEN).with_metadata(owner_references=(owner,))

    lines = told(describe_transfer(transfer, READER))

    assert lines["Way", "For"] == "restore look"

    assert [text for (name, _), text in lines.items() if name == "Events"] == [
        "Normal Accepted: may be prepared on node-a"
    ]


def test_settings_nodes_and_namespaces_are_rows():
    setting = Setting(metadata=Metadata(name="concurrent-backups"), spec=SettingSpec(value="3"))
    node = Node(metadata=Metadata(name="a"), status=NodeStatus(ready=True))
    namespace = Namespace(metadata=Metadata(name="shop", labels={"team": "web"}))

    assert row(SETTINGS, setting, wide=False) == {
        "NAME": "concurrent-backups",
        "VALUE": "3",
        "DEFAULT": "1",
        "CATEGORY": "general",
    }
    assert row(NODES, node)["STATUS"] == "Ready"
    assert row(NAMESPACES, namespace)["LABELS"] == "team=web"


def test_times_are_those_of_the_reader():
    reader = Reader(now=THEN, zone=timezone(timedelta(hours=2)))

    assert reader.moment(THEN) == "2026-01-01 02:00:00+02:00"
    assert reader.moment_and_age(THEN + timedelta(hours=1)) == "2026-01-01 03:00:00+02:00 (in 1h)"
    assert reader.until(THEN) == "now"


def test_a_pinned_backup_shows_that_it_does_not_expire():
    backup = a_backup("keep").with_metadata(labels={"tidegate.dev/pinned": "true"})

    assert row(BACKUPS, backup)["EXPIRES"] == "pinned"
    assert told(describe_backup(backup, [], READER))["Times", "Expires"] == "never, it is pinned"


def test_a_running_backup_tells_what_its_blocks_do_and_what_its_hooks_said():
    moving = BlockProgress(volumes=("shop/db", "shop/wal"), phase=BlockPhase.MOVING)
    blocks = (moving, BlockProgress(volumes=("shop/files",)))
    status = HookStatus(hooks_attempted=1, hooks_failed=1, problems=("pre hook database for shop: no",))
    backup = a_backup("nightly").with_spec(hooks=freezing()).with_status(blocks=blocks, hook_status=status)

    lines = told(describe_backup(backup, [], READER))

    assert lines["Blocks", "Moving"] == "shop/db, shop/wal"
    assert lines["Blocks", "Waiting"] == "1 for a worker (item-block-worker-count)"
    assert (lines["Contents", "Hooks"], lines["Problems", "Hook"]) == ("database", "pre hook database for shop: no")


def test_a_block_whose_volumes_are_all_stopped_by_a_gate_is_not_told_to_move():
    blocks = tuple(BlockProgress(volumes=(name,), phase=BlockPhase.MOVING) for name in ("shop/db", "shop/files"))
    backup = a_backup("nightly", phase=BackupPhase.IN_PROGRESS).with_status(blocks=blocks)
    moves = a_transfer("a", TransferPhase.IN_PROGRESS, volume=("shop", "db"))
    waits = a_transfer("b", TransferPhase.PREPARED, volume=("shop", "files"))

    lines = told(describe_backup(backup, [moves, waits], READER))

    assert (lines["Blocks", "Moving"], lines["Blocks", "At the gates"]) == ("shop/db", "shop/files")
