"""The routes of the queue: looking, explaining, moving, calling off."""

from datetime import timedelta

import pytest

from tidegate.model.backups.backup import Backup, BackupPhase
from tidegate.model.queue.queue import Queue, QueueExplanation, Workload
from tidegate.model.resource import Metadata, OwnerReference, Ref
from tidegate.model.setting import Setting, SettingSpec
from tidegate.model.transfers.transfer import TransferPhase
from tidegate.model.transfers.transfer_progress import TransferProgress
from tidegate.testing.resources.builders import THEN, a_backup, a_target, a_transfer, a_volume
from tidegate.testing.resources.put import put

RUNNING, QUEUED = BackupPhase.IN_PROGRESS, BackupPhase.QUEUED


@pytest.fixture
def queue(services):
    """Puts backups into the store."""

    async def fill(*backups):
        for backup in backups:
            await put(services.store, backup)

    return fill


async def the_worked_example(queue):
    await queue(
        a_backup("backup1", "ns1", "ns2", phase=RUNNING),
        a_backup("backup2", "ns2", "ns3", "ns5", phase=QUEUED, ticket=2),
        a_backup("backup3", "ns4", "ns3", phase=QUEUED, ticket=3).with_status(queued_at=THEN),
        a_backup("backup4", "ns9", phase=QUEUED, ticket=4).with_spec(priority=-1),
    )


async def test_the_queue_is_told_in_its_order_with_reasons_and_expected_starts(api, queue):
    await the_worked_example(queue)

    answer = await api.get("/v1/queue")

    shown = Queue.model_validate(answer.json())
    assert (shown.limit, shown.paused, shown.running) == (1, False, ("backup1",))
    assert [(w.position, w.name, str(w.reason), w.blocked_by, w.priority) for w in shown.waiting] == [
        (1, "backup2", "NamespaceOverlapRunning", "backup1", 0),
        (2, "backup3", "NamespaceOverlapQueued", "backup2", 0),
        (3, "backup4", "ConcurrencyLimit", None, -1),
    ]
    # Nothing is known of the past, so each is expected to take five minutes.
    assert [w.expected_start - THEN for w in shown.waiting] == [timedelta(minutes=n) for n in (5, 10, 15)]
    assert shown.waiting[1].since == THEN


async def test_whoever_waits_is_expected_to_start_when_the_bytes_of_what_runs_have_moved(api, queue, services):
    moving = TransferProgress(stage="uploading", bytes_done=100, total_bytes=1000, bytes_per_second=1.0)
    await the_worked_example(queue)
    backup = await services.store.get(Backup, "backup1")
    owner = OwnerReference(kind="Backup", name=backup.name, uid=backup.metadata.uid)
    slow = a_transfer("slow", TransferPhase.IN_PROGRESS).with_status(progress=moving)
    await put(services.store, slow.with_metadata(owner_references=(owner,)))

    shown = Queue.model_validate((await api.get("/v1/queue")).json())
    explained = QueueExplanation.model_validate((await api.get("/v1/queue/backup2")).json())

    assert [w.expected_start - THEN for w in shown.waiting] == [timedelta(minutes=n) for n in (15, 20, 25)]
    assert explained.expected_start == shown.waiting[0].expected_start


async def test_the_queue_is_told_in_parts_that_fit_together_though_somebody_leaves_in_between(api, queue, services):
    await queue(*(a_backup(f"b{n}", f"ns{n}", phase=QUEUED, ticket=n + 1) for n in range(5)))
    whole = (await api.get("/v1/queue")).json()

    first = (await api.get("/v1/queue?limit=2")).json()
    await services.store.delete(Ref("Backup", "b1"))
    second = (await api.get("/v1/queue", params={"limit": 2, "marker": first["marker"]})).json()
    third = (await api.get("/v1/queue", params={"limit": 2, "marker": second["marker"]})).json()

    assert first["waiting"] == whole["waiting"][:2]
    assert [(row["name"], row["position"]) for row in second["waiting"] + third["waiting"]] == [
        ("b2", 2),
        ("b3", 3),
        ("b4", 4),
    ]
    assert [part["waitingCount"] for part in (whole, first, third)] == [5, 5, 4]
    assert "marker" not in third
    assert "marker" not in whole


async def test_a_part_begins_wherever_one_looks(api, queue):
    await queue(*(a_backup(f"b{n}", f"ns{n}", phase=QUEUED, ticket=n + 1) for n in range(5)))
    whole = (await api.get("/v1/queue")).json()["waiting"]

    middle = (await api.get("/v1/queue?limit=2&skip=2")).json()
    beyond = (await api.get("/v1/queue?limit=2&skip=99")).json()

    assert middle["waiting"] == whole[2:4]
    assert (beyond["waiting"], beyond["waitingCount"]) == ([], 5)


@pytest.mark.parametrize("query", ["skip=-1", "skip=x", "limit=0", "limit=x", "marker=x", "marker=1/x/a", "marker=1/2"])
async def test_a_part_that_nobody_can_mean_is_refused(api, query):
    assert (await api.get(f"/v1/queue?{query}")).status_code == 422


async def test_one_that_may_start_now_keeps_its_position_until_it_has(api, queue):
    await queue(a_backup("free", "a", phase=QUEUED, ticket=1), a_backup("next", "b", phase=QUEUED, ticket=2))

    shown = Queue.model_validate((await api.get("/v1/queue")).json())

    assert [(w.position, w.name, str(w.reason)) for w in shown.waiting] == [
        (1, "free", "PendingEvaluation"),
        (2, "next", "ConcurrencyLimit"),
    ]


async def test_an_explanation_names_every_obstacle_and_what_has_to_end_first(api, queue):
    await the_worked_example(queue)

    shown = QueueExplanation.model_validate((await api.get("/v1/queue/backup3")).json())

    assert (shown.phase, shown.position, shown.since) == ("Queued", 2, THEN)
    assert [(str(o.reason), o.blocked_by, o.shared) for o in shown.obstacles] == [
        ("NamespaceOverlapQueued", "backup2", ("ns3",)),
        ("ConcurrencyLimit", None, ()),
    ]
    assert [(e.name, e.running, e.holds_up) for e in shown.ends_first] == [
        ("backup1", True, "backup2"),
        ("backup2", False, "backup3"),
    ]
    assert shown.or_one_of == ("backup1",)
    assert shown.expected_start == THEN + timedelta(minutes=10)


async def test_an_explanation_names_patterns_and_no_namespace_that_is_made_up(api, queue):
    await queue(
        a_backup("running", "qa-*", phase=RUNNING),
        a_backup("waits", "*-prod", phase=QUEUED, ticket=1),
    )
    sentence = "backup running is running, and `*-prod` and `qa-*` can match the same namespace"

    explained = QueueExplanation.model_validate((await api.get("/v1/queue/waits")).json())
    listed = Queue.model_validate((await api.get("/v1/queue")).json())

    assert (explained.obstacles[0].message, explained.obstacles[0].shared) == (sentence, ("*-prod", "qa-*"))
    assert listed.waiting[0].message == sentence


async def test_what_does_not_wait_has_nothing_to_explain(api, queue):
    await queue(a_backup("done", "a", phase=BackupPhase.COMPLETED))

    assert (await api.get("/v1/queue/done")).json() == {
        "name": "done",
        "phase": "Completed",
        "obstacles": [],
        "moreObstacles": 0,
        "endsFirst": [],
        "orOneOf": [],
    }
    assert (await api.get("/v1/queue/nobody")).status_code == 404


async def test_a_paused_queue_says_so_and_promises_no_start(api, queue, services):
    await queue(a_backup("held", "a", phase=QUEUED, ticket=1))
    await services.store.create(Setting(metadata=Metadata(name="backup-queue-paused"), spec=SettingSpec(value="true")))

    shown = (await api.get("/v1/queue")).json()
    explained = (await api.get("/v1/queue/held")).json()

    assert (shown["paused"], shown["waiting"][0]["reason"]) == (True, "Paused")
    assert "tidegate queue resume" in explained["obstacles"][0]["message"]
    assert "expectedStart" not in explained


async def test_a_very_long_list_of_obstacles_is_cut_and_says_so(api, queue):
    await queue(*(a_backup(f"b{number:03}", "same", phase=QUEUED, ticket=number) for number in range(1, 121)))

    explained = (await api.get("/v1/queue/b120")).json()

    assert (len(explained["obstacles"]), explained["moreObstacles"], len(explained["endsFirst"])) == (100, 19, 50)


async def order(api):
    return [row["name"] for row in (await api.get("/v1/queue")).json()["waiting"]]


@pytest.mark.parametrize(
    ("who", "to", "expected"),
    [
        ("c", 1, ["c", "a", "b"]),
        ("a", 2, ["b", "a", "c"]),
        ("a", 99, ["b", "c", "a"]),
        ("b", 2, ["a", "b", "c"]),
    ],
)
async def test_a_backup_is_moved_and_the_others_keep_their_order(api, queue, who, to, expected):
    await queue(*(a_backup(name, name, phase=QUEUED, ticket=n) for n, name in enumerate("abc", start=1)))

    moved = await api.post(f"/v1/queue/{who}/move", json={"to": to})

    assert (moved.status_code, moved.json()["status"]["queuePosition"]) == (200, expected.index(who) + 1)
    assert await order(api) == expected


async def test_a_move_asks_in_the_spec_and_leaves_the_status_to_the_queue(api, queue, services):
    await queue(*(a_backup(name, name, phase=QUEUED, ticket=n * 1024) for n, name in enumerate("abc", start=1)))
    before = {name: await services.store.get(Backup, name) for name in "abc"}

    moved = (await api.post("/v1/queue/c/move", json={"to": 1})).json()

    stored = await services.store.get(Backup, "c")
    assert stored.status == before["c"].status
    assert stored.spec == before["c"].spec.replace(queue_ticket=stored.ticket)
    assert (moved["spec"]["queueTicket"], moved["status"]["queueTicket"]) == (stored.ticket, stored.ticket)
    assert [await services.store.get(Backup, name) for name in "ab"] == [before["a"], before["b"]]


async def test_a_new_backup_cannot_ask_for_a_place(api, services):
    await services.store.create(a_target("store"))
    wanted = {"metadata": {"name": "pushy"}, "spec": {"queueTicket": 1, "allowEmpty": True}}

    refused = await api.post("/v1/backups", json=wanted)

    assert (refused.status_code, refused.json()["field"]) == (422, "spec.queueTicket")


async def test_a_move_goes_past_those_with_a_higher_priority(api, queue):
    await queue(
        a_backup("vip", "a", phase=QUEUED, ticket=1).with_spec(priority=10),
        a_backup("low", "b", phase=QUEUED, ticket=2).with_spec(priority=-10),
    )

    await api.post("/v1/queue/low/move", json={"to": 1})

    assert await order(api) == ["low", "vip"]


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({"to": 0}, "to: Input should be greater than or equal to 1"),
        ({"to": "first"}, "to: Input should be a valid integer"),
        ({"to": True}, "to: Input should be a valid integer"),
        ({}, "to is missing"),
        (None, "the body is missing"),
        ({"to": 1, "form": 2}, "form is not a known field"),
    ],
)
async def test_a_move_to_nowhere_is_refused_in_one_sentence(api, queue, body, says):
    await queue(a_backup("a", "a", phase=QUEUED, ticket=1))

    refused = await api.post("/v1/queue/a/move", json=body)

    assert (refused.status_code, refused.json()["detail"]) == (422, says)


async def test_only_what_waits_can_be_moved(api, queue, services):
    await queue(
        a_backup("runs", "a", phase=RUNNING),
        a_backup("called-off", "b", phase=QUEUED, ticket=1).with_spec(cancel=True),
        a_backup("leaving", "c", phase=QUEUED, ticket=2).with_metadata(finalizers=("somebody",)),
    )
    await services.store.delete(Ref("Backup", "leaving"))

    answers = {name: await api.post(f"/v1/queue/{name}/move", json={"to": 1}) for name in ("runs", "called-off")}
    answers["leaving"] = await api.post("/v1/queue/leaving/move", json={"to": 1})

    assert {answer.status_code for answer in answers.values()} == {409}
    assert "backup runs is InProgress; only one that waits" in answers["runs"].json()["detail"]
    assert "is being cancelled" in answers["called-off"].json()["detail"]
    assert "is being deleted" in answers["leaving"].json()["detail"]
    assert (await api.post("/v1/queue/nobody/move", json={"to": 1})).status_code == 404


@pytest.mark.parametrize(
    "phase", [BackupPhase.NEW, QUEUED, BackupPhase.READY_TO_START, RUNNING, BackupPhase.FINALIZING]
)
async def test_whatever_is_not_over_can_be_called_off_also_twice(api, queue, services, phase):
    await queue(a_backup("b", "a", phase=phase, ticket=1))

    answers = [await api.post("/v1/backups/b/cancel") for _ in range(2)]

    assert [answer.status_code for answer in answers] == [202, 202]
    assert answers[0].json()["spec"]["cancel"] is True
    assert (await services.store.get(Backup, "b")).spec.cancel


@pytest.mark.parametrize("phase", [phase for phase in BackupPhase if phase.final])
async def test_what_is_over_cannot_be_called_off(api, queue, phase):
    await queue(a_backup("b", "a", phase=phase))

    refused = await api.post("/v1/backups/b/cancel")

    assert refused.status_code == 409
    assert refused.json()["detail"] == f"backup b is {phase}; there is nothing to cancel"


async def test_the_workload_is_what_a_simulation_needs(api, queue, services):
    await put(services.store, a_target("store").with_status(available=False))
    await api.post("/v1/namespaces", json={"metadata": {"name": "shop"}})
    await queue(
        a_backup("runs", "shop", phase=RUNNING),
        a_backup("waits", phase=QUEUED, ticket=int(THEN.timestamp() * 1e6) - 7_000_000, excluding="tmp-*"),
    )

    answer = (await api.get("/v1/queue-workload")).json()

    assert answer == Workload.model_validate(answer).to_wire()
    assert answer["namespaces"] == ["shop"]
    assert (answer["limit"], answer["headStartSeconds"], answer["unavailableTargets"]) == (1, 600, ["store"])
    runs, waits = answer["backups"]
    assert (runs["name"], runs["running"], runs["duration"], runs["includedNamespaces"]) == (
        *("runs", True, 300.0),
        ["shop"],
    )
    assert (waits["queuedFor"], waits["excludedNamespaces"], waits["running"]) == (7.0, ["tmp-*"], False)
    assert "volumes" not in waits


async def test_a_workload_names_volumes_where_overlap_is_judged_by_them(api, queue, services):
    await services.store.create(Setting(metadata=Metadata(name="overlap-detection"), spec=SettingSpec(value="volume")))
    await services.store.create(a_volume("shop", "db"))
    await queue(a_backup("waits", "shop", phase=QUEUED, ticket=1))

    assert (await api.get("/v1/queue-workload")).json()["backups"][0]["volumes"] == ["shop/db"]


async def test_a_dry_run_names_every_backup_that_it_would_overlap_with(api, queue, services):
    await services.store.create(a_target("store"))
    await services.store.create(a_volume("shop", "db"))
    await queue(a_backup("runs", "shop", phase=RUNNING), a_backup("waits", "blog", "shop", phase=QUEUED, ticket=1))
    wanted = {"metadata": {"name": "mine"}, "spec": {"includedNamespaces": ["shop", "blog"]}}

    dry = (await api.post("/v1/backups?dryRun=true", json=wanted)).json()

    assert dry["status"]["queuePosition"] == 2
    assert dry["status"]["conditions"][0]["message"] == (
        "backup runs is running and shares namespace shop; "
        "backup waits is ahead in the queue and shares namespaces blog, shop; "
        "all 1 slots of concurrent-backups are taken"
    )


async def test_every_answer_has_a_schema(api):
    paths = (await api.get("/openapi.json")).json()["paths"]

    def schema(path, verb, status):
        content = paths[path][verb]["responses"][status]["content"]["application/json"]
        return content["schema"]["$ref"].split("/")[-1].removesuffix("-Output")

    assert schema("/v1/queue", "get", "200") == "Queue"
    assert schema("/v1/queue/{name}", "get", "200") == "QueueExplanation"
    assert schema("/v1/queue-workload", "get", "200") == "Workload"
    assert schema("/v1/queue/{name}/move", "post", "200") == "Backup"
    assert schema("/v1/backups/{name}/cancel", "post", "202") == "Backup"


async def test_trying_a_backup_out_places_it_and_leaves_the_queue_as_it_was(api, services, queue):
    await queue(a_target("store"), a_volume("a", "db"), a_backup("runs", "a", phase=RUNNING))
    spec = {"metadata": {"name": "new"}, "spec": {"includedNamespaces": ["a"]}}

    tried = (await api.post("/v1/backups?dryRun=true", json=spec)).json()
    assert len(services.state.queue) == 1
    stored = (await api.post("/v1/backups", json=spec)).json()

    assert "backup runs" in tried["status"]["conditions"][0]["message"]
    assert "backup runs" in stored["status"]["conditions"][0]["message"]
    assert len(services.state.queue) == 2
