"""The event stream, the probes and the metrics."""

import asyncio
import json
from dataclasses import replace
from datetime import timedelta

import pytest

from tidegate.api.event_position import start_of
from tidegate.api.routes.events import _stream
from tidegate.errors import DamagedMetadata, DatabaseDamaged
from tidegate.model.backups.backup import Backup, BackupPhase
from tidegate.model.schedules.schedule import SCHEDULE_LABEL
from tidegate.model.stores.target import BackupTarget
from tidegate.ports.resource_store import Change, Event
from tidegate.resources.memory import MemoryStore
from tidegate.testing.clock import settle
from tidegate.testing.identity import counting_ids
from tidegate.testing.resources.a_state import running_state
from tidegate.testing.resources.builders import a_backup, a_schedule, a_target, a_volume
from tidegate.testing.resources.put import put


async def stream_of(services, *kinds, since=None):
    """The messages behind the first one, which has a position and nothing else."""
    stream = _stream(services, await start_of(services.store, kinds, since))
    assert (await anext(stream)).startswith(b"id: ")
    return stream


def parse(chunk):
    lines = dict(line.split(": ", 1) for line in chunk.decode().strip().splitlines())
    return lines["id"], lines["event"], json.loads(lines["data"])["metadata"]["name"]


async def test_a_stream_tells_every_change_since_a_version_and_then_the_new_ones(services):
    before = (await services.store.list(Backup)).resource_version
    first = await services.store.create(a_backup("first"))
    await services.store.create(a_target("ignored"))
    stream = await stream_of(services, Backup, since=before)

    assert parse(await anext(stream)) == (f"backups:{first.metadata.resource_version}", "ADDED", "first")
    coming = asyncio.create_task(anext(stream))
    changed = await services.store.update_status(first.with_status(errors=1))

    assert parse(await coming) == (f"backups:{changed.metadata.resource_version}", "MODIFIED", "first")
    await stream.aclose()


async def test_a_stream_of_several_kinds_goes_on_behind_the_last_change_of_each(services):
    stream = await stream_of(services, Backup, BackupTarget)
    await services.store.create(a_backup("seen"))
    seen = parse(await anext(stream))
    await services.store.create(a_target("also-seen"))
    position = parse(await anext(stream))[0]
    await stream.aclose()
    await services.store.create(a_backup("missed"))
    await services.store.create(a_target("missed-too"))

    again = await stream_of(services, Backup, BackupTarget, since=position)

    assert seen[1:] == ("ADDED", "seen")
    assert await names_of(again, 2) == {"missed", "missed-too"}


async def names_of(stream, count):
    names = set()
    while len(names) < count:
        names |= {parse(message)[2] for message in (await anext(stream)).split(b"\n\n")[:-1]}
    await stream.aclose()
    return names


async def test_the_first_message_says_where_to_resume_before_anything_has_changed(services):
    stream = _stream(services, await start_of(services.store, [Backup, BackupTarget], None))
    first = (await anext(stream)).decode()
    await stream.aclose()
    await services.store.create(a_backup("later"))

    again = await stream_of(services, Backup, BackupTarget, since=first.removeprefix("id: ").strip())

    assert (first.count("\n"), await names_of(again, 1)) == (2, {"later"})


async def test_a_change_is_encoded_once_for_all_who_watch(services):
    shown = []

    async def show(resource):
        shown.append(resource.name)
        return resource

    before = (await services.store.list(Backup)).resource_version
    await services.store.create(a_backup("one"))
    event = await anext(services.store.watch(Backup, since=before))
    bodies = [(await services.event_lines.body(event, show))[0] for _ in range(100)]

    assert (len(set(bodies)), shown) == (1, ["one"])


async def test_kinds_that_have_the_same_version_are_not_mixed_up(services):
    async def show(resource):
        return resource

    events = [Event(Change.ADDED, one, "7") for one in (a_backup("b"), a_target("t"))]

    assert [(await services.event_lines.body(event, show))[1].name for event in events] == ["b", "t"]


async def test_changes_that_come_together_go_out_together_and_a_slow_client_loses_none(services):
    before = (await services.store.list(Backup)).resource_version
    for number in range(600):
        await services.store.create(a_backup(f"b{number:03}"))
    stream = await stream_of(services, Backup, since=before)
    chunks, told = [], []
    while len(told) < 600:
        chunks.append(await anext(stream))
        told += [parse(event)[2] for event in chunks[-1].split(b"\n\n")[:-1]]

    assert told == [f"b{number:03}" for number in range(600)]
    assert len(chunks) < 10
    await stream.aclose()


async def test_a_client_that_leaves_before_the_first_change_leaves_nothing_behind(services):
    before = asyncio.all_tasks()
    stream = await stream_of(services, Backup)
    await stream.aclose()
    await settle(10)

    assert asyncio.all_tasks() == before


async def test_a_client_that_leaves_while_nothing_happens_leaves_nothing_behind(services):
    before = asyncio.all_tasks()
    stream = await stream_of(services, Backup)
    coming = asyncio.create_task(anext(stream))
    await settle(10)
    assert len(asyncio.all_tasks()) > len(before) + 1
    coming.cancel()
    await settle(10)

    assert asyncio.all_tasks() == before


async def test_a_stream_ends_when_the_server_goes_down(services):
    stream = await stream_of(services, Backup)
    coming = asyncio.create_task(anext(stream, "ended"))
    await asyncio.sleep(0)

    services.shutting_down.set()

    assert await coming == "ended"


async def test_a_client_that_is_too_far_behind_is_told_to_list_again(services):
    store = MemoryStore(clock=services.clock, new_id=counting_ids(), kept_events=4)
    before = (await store.list(Backup)).resource_version
    for number in range(5):
        await store.create(a_backup(f"b{number}"))
    async with running_state(store, services.clock) as state:
        stream = await stream_of(replace(services, state=state), Backup, since=before)
        expired = (await anext(stream)).decode()

    assert expired.startswith("event: expired\ndata: ")
    assert "no longer kept" in expired
    with pytest.raises(StopAsyncIteration):
        await anext(stream)


async def test_a_version_that_the_store_does_not_know_asks_for_a_new_list_too(services):
    stream = await stream_of(services, Backup, since="yesterday")

    assert b"event: expired\n" in await anext(stream)


@pytest.mark.parametrize("query", ["kinds=nothing", "since=abc", "since=backups:", "kinds=backups&since="])
async def test_a_bad_stream_is_refused(api, query):
    assert (await api.get(f"/v1/events?{query}")).status_code == 422


async def test_metrics_tell_names_so_they_need_a_token_unless_they_are_opened(api, services):
    assert (await api.get("/metrics")).status_code == 200
    api.headers.pop("Authorization")
    refused = await api.get("/metrics")
    services.open_metrics = True

    assert (refused.status_code, refused.json()["code"]) == (401, "Unauthenticated")
    assert (await api.get("/metrics")).status_code == 200


async def test_probes_need_no_token(api, services):
    api.headers.pop("Authorization")
    assert [(await api.get(path)).status_code for path in ("/livez", "/readyz", "/metrics")] == [200, 200, 401]

    services.shutting_down.set()

    assert (await api.get("/readyz")).status_code == 503


async def test_a_scrape_tells_of_volumes_whose_newest_backup_is_lost(api, services):
    lost = {"last_backup_at": services.clock.now(), "last_backup_doubt": "it is lost"}
    await put(services.store, a_volume("shop", "db").with_status(**lost))

    scraped = (await api.get("/metrics")).text

    assert 'tidegate_volume_last_backup_timestamp_seconds{namespace="shop",volume="db"}' in scraped
    assert "tidegate_volumes_with_doubtful_backup 1.0" in scraped


class Unreadable(MemoryStore):
    async def list(self, kind, **options):
        if kind is Backup:
            raise DamagedMetadata("Backup 'b' is damaged in the server's database")
        return await super().list(kind, **options)


async def test_a_server_that_could_not_read_everything_is_not_ready_and_names_what(services, api):
    clock = services.clock
    async with running_state(Unreadable(clock=clock, new_id=counting_ids()), clock) as state:
        services.state = state
        answer = await api.get("/readyz")

    assert (answer.status_code, answer.text) == (503, "not read yet: backups\n")


async def test_metrics_are_counted_from_the_store_and_die_with_their_objects(api, services):
    await put(services.store, a_backup("b1", phase=BackupPhase.QUEUED, ticket=1))
    await put(services.store, a_target("t").with_status(available=False))
    text = (await api.get("/metrics")).text
    assert 'tidegate_backups{phase="Queued"} 1.0' in text
    assert 'tidegate_backups{phase="Failed"} 0.0' in text
    assert 'tidegate_queue_length{reason="PendingEvaluation"} 1.0' in text
    assert 'tidegate_store_up{store="t"} 0.0' in text

    await services.store.delete(a_target("t").ref)

    assert "tidegate_store_up{" not in (await api.get("/metrics")).text


async def test_the_version_is_told(api):
    assert (await api.get("/v1/version")).json() == {"version": "9.9"}


async def test_the_queue_is_measured_from_what_is_stored(api, services):
    began = services.clock.now()
    started = a_backup("runs", phase=BackupPhase.IN_PROGRESS, ticket=1)
    await put(services.store, started.with_status(queued_at=began, start_timestamp=began + timedelta(seconds=70)))
    leaving = a_backup("leaves", phase=BackupPhase.DELETING, ticket=1)
    await put(services.store, leaving.with_status(start_timestamp=began))
    await put(services.store, a_backup("waits", phase=BackupPhase.QUEUED, ticket=2).with_status(queued_at=began))
    services.state.queue_decisions["Started"] = 3

    lines = set((await api.get("/metrics")).text.splitlines())

    assert {
        'tidegate_queue_length{reason="NamespaceOverlapRunning"} 1.0',
        'tidegate_queue_length{reason="Paused"} 0.0',
        "tidegate_queue_oldest_wait_seconds 0.0",
        "tidegate_queue_running 2.0",
        'tidegate_queue_wait_seconds_bucket{le="60"} 0.0',
        'tidegate_queue_wait_seconds_bucket{le="300"} 1.0',
        "tidegate_queue_wait_seconds_count 1.0",
        "tidegate_queue_wait_seconds_sum 70.0",
        'tidegate_queue_decisions_total{outcome="Started"} 3.0',
    } <= lines


async def test_schedules_tell_when_they_last_made_a_good_backup_and_what_they_left_out(api, services):
    now = services.clock.now()
    schedule = a_schedule("nightly", "30 2 * * *").with_status(skipped_runs=2, missed_runs=3)
    await put(services.store, schedule)
    await services.store.create(a_schedule("resting", "@daily", paused=True))
    made = a_backup("nightly-1", phase=BackupPhase.COMPLETED).with_metadata(labels={SCHEDULE_LABEL: "nightly"})
    await put(services.store, made.with_status(completion_timestamp=now))

    text = (await api.get("/metrics")).text

    lines = set(text.splitlines())
    (success,) = [line for line in lines if line.startswith("tidegate_schedule_last_success_timestamp_seconds{")]
    assert (success.split()[0][-9:-1], float(success.split()[1])) == ('nightly"', now.timestamp())
    assert {
        'tidegate_schedule_last_backup_phase{phase="Completed",schedule="nightly"} 1.0',
        'tidegate_schedule_last_backup_phase{phase="Failed",schedule="nightly"} 0.0',
        'tidegate_schedule_skipped_runs_total{schedule="nightly"} 2.0',
        'tidegate_schedule_missed_runs_total{schedule="nightly"} 3.0',
        'tidegate_schedule_paused{schedule="resting"} 1.0',
    } <= lines
    assert 'tidegate_schedule_next_run_timestamp_seconds{schedule="nightly"}' in text
    assert 'tidegate_schedule_next_run_timestamp_seconds{schedule="resting"}' not in text
    await services.store.delete(schedule.ref)
    assert 'schedule="nightly"' not in (await api.get("/metrics")).text


async def test_a_server_whose_database_is_damaged_is_not_ready_and_says_how_to_come_back(api, services):
    services.damage = lambda: DatabaseDamaged("tidegate.db is gone while the server runs", hint="Come back so.")

    answer = await api.get("/readyz")

    assert (answer.status_code, answer.text) == (503, "tidegate.db is gone while the server runs\nCome back so.\n")
    assert (await api.get("/livez")).status_code == 200
