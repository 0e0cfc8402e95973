"""What a viewer, an operator and an administrator may do; and that every route has been thought about."""

import re

import pytest

from tidegate.api.application import build_application
from tidegate.api.services import Services
from tidegate.decide.access.roles import Need, need_of, refusal, rules_for, schedule_refusal
from tidegate.model.access.access import Role
from tidegate.model.resource import Metadata
from tidegate.model.schedules.schedule import Schedule
from tidegate.resources.memory import MemoryStore
from tidegate.testing.clock import ManualClock
from tidegate.testing.doubles.store_probe import FakeStoreProbe
from tidegate.testing.doubles.volume_probe import FakeVolumeProbe
from tidegate.testing.identity import counting_ids
from tidegate.testing.resources.a_state import a_state

V, O, A = Role  # noqa: E741  # as short as the table below wants them
TABLE = [
    ("GET", "/backups", (), V),
    ("GET", "/volumes/shop/db", (), V),
    ("GET", "/events", (), V),
    ("GET", "/settings/concurrent-backups", (), V),
    ("POST", "/backups", (), O),
    ("POST", "/backups/cancel/cancel", (), O),
    ("POST", "/backups/nightly/pin", (), O),
    ("POST", "/restores", (), O),
    ("POST", "/restore-plans", (), O),
    ("GET", "/backups/nightly/files", (), V),
    ("GET", "/backups/nightly/content", (), O),
    ("POST", "/queue/nightly/move", (), O),
    ("POST", "/schedules/nightly/run", (), O),
    ("PUT", "/backuptargets", (), O),
    ("POST", "/backuptargets/usb", ("backupTargetSync",), O),
    ("POST", "/backuptargets/usb", ("backupTargetUpdate",), A),
    ("POST", "/backupvolumes/db", ("backupList",), V),
    ("POST", "/backupvolumes/db", ("backupDelete",), A),
    ("POST", "/backupvolumes/db", ("backupList", "backupDelete"), A),
    ("POST", "/backupvolumes/db", ("backupDelete", "backupList"), A),
    ("POST", "/backupvolumes/db", (), A),
    ("DELETE", "/backupvolumes/db", (), A),
    ("DELETE", "/backups/nightly", (), A),
    ("DELETE", "/restores/yesterday", (), O),
    ("POST", "/deletions", (), A),
    ("POST", "/deletions/one/cancel", (), O),
    ("PUT", "/settings/backup-queue-paused", (), A),
    ("DELETE", "/settings/concurrent-backups", (), A),
    ("PUT", "/load", (), A),
    ("POST", "/backuptargets", (), A),
    ("POST", "/volumes", (), A),
    ("POST", "/schedules", (), A),
    ("POST", "/systemrestores", (), A),
    ("GET", "/audit", (), A),
    ("GET", "/tokens", (), A),
    ("POST", "/users", (), A),
    ("PUT", "/users/alice", (), A),
    ("GET", "/nobody/thought/of/this", (), A),
    ("PATCH", "/backups/nightly", (), A),
]


@pytest.mark.parametrize(("method", "path", "actions", "role"), TABLE)
def test_a_request_needs_the_role_that_the_table_says(method, path, actions, role):
    assert need_of(method, path, actions).role is role


def test_actions_that_only_look_are_no_changes_whatever_their_method():
    assert need_of("POST", "/backupvolumes/db", ("backupList",)).reads
    assert need_of("POST", "/restore-plans").reads
    assert not need_of("POST", "/backupvolumes/db", ("backupList", "backupDelete")).reads
    assert not need_of("POST", "/backups").reads


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("needed", Role)
def test_whoever_has_more_may_do_what_others_with_less_may(role, needed):
    refused = refusal(role, Need(needed, reads=False))

    ranks = list(Role)
    assert (refused is None) == (ranks.index(role) >= ranks.index(needed))
    assert refused is None or (needed in refused and role in refused)


def test_every_route_of_the_application_has_a_rule():
    clock = ManualClock()
    store = MemoryStore(clock=clock, new_id=counting_ids())
    services = Services(
        a_state(store, clock), clock, FakeVolumeProbe(), FakeStoreProbe(), token_is_good=lambda _: False, version="9.9"
    )
    paths = build_application(services).openapi()["paths"]
    routes = [
        (method.upper(), re.sub(r"\{[^}]*\}", "name", path.removeprefix("/v1")))
        for path, methods in paths.items()
        for method in methods
        if path.startswith("/v1") and path not in {"/v1/login", "/v1/logout", "/v1/password"}
    ]

    assert len(routes) > 80
    assert [route for route in routes if not rules_for(*route)] == []


def schedule(**spec):
    return Schedule(metadata=Metadata(name="nightly"), spec={"schedule": "30 2 * * *", "template": {}, **spec})


def test_an_operator_pauses_and_resumes_a_schedule_and_changes_nothing_else_of_it():
    stored = schedule(paused=False)
    labelled = schedule(paused=True).with_metadata(labels={"tier": "gold"})

    assert schedule_refusal(O, stored, schedule(paused=True)) is None
    assert schedule_refusal(O, stored, schedule(paused=True, schedule="0 3 * * *")) is not None
    assert schedule_refusal(O, stored, labelled) is not None
    assert schedule_refusal(A, stored, labelled) is None
