"""`tidegate deletion`: what goes from the stores, and calling it off."""

from datetime import timedelta

import pytest

from tidegate.model.reasons import Reason
from tidegate.model.resource import Metadata
from tidegate.model.stores.deletion import Deletion, DeletionPhase, DeletionSpec, DeletionStatus
from tidegate.testing.resources.builders import THEN


def a_deletion(name, *backups, **status):
    spec = DeletionSpec(target="far", url="file:///store", volume="pvc-1", backups=backups)
    return Deletion(metadata=Metadata(name=name), spec=spec, status=DeletionStatus(**status))


@pytest.fixture
def three(server):
    waiting = a_deletion("d-1", "b-1")
    why = "restore r1 reads it; it is deleted when that has ended"
    server.put(waiting.replace(status=waiting.status.waiting(Reason.DEPENDENCY, why, since=THEN)))
    retry_at = THEN + timedelta(hours=12, minutes=5)
    server.put(
        a_deletion(
            "d-2", "b-2", "b-3", phase=DeletionPhase.RETRYING, message="no answer", attempts=4, retry_at=retry_at
        )
    )
    server.put(a_deletion("d-3", phase=DeletionPhase.DONE))


def test_the_list_says_what_goes_how_far_it_is_and_what_it_waits_for(run, three):
    lines = [line.split() for line in run("deletion", "get").out.splitlines()]

    assert lines[1][:6] == ["d-1", "far", "pvc-1", "b-1", "Waiting", "Dependency"]
    assert lines[2][:7] == ["d-2", "far", "pvc-1", "2", "backups", "Retrying", "5m"]
    assert lines[3][:6] == ["d-3", "far", "pvc-1", "whole", "volume", "Done"]


def test_the_description_of_one_that_waits_says_why(run, three):
    result = run("deletion", "describe", "d-1")

    assert result.code == 0
    assert "restore r1 reads it; it is deleted when that has ended" in result.out


def test_the_description_of_one_that_failed_says_why_and_when_it_is_tried_again(run, three):
    out = run("deletion", "describe", "d-2").out

    assert "no answer" in out
    assert "2026-01-01 12:05" in out


def test_several_are_called_off_whatever_happens_to_the_others(run, server, three):
    for name in ("d-1", "d-2"):
        server.answers["POST", f"/v1/deletions/{name}/cancel"] = (202, a_deletion(name).to_wire())
    detail = "deletion d-3 is Done; there is nothing to cancel"
    server.answers["POST", "/v1/deletions/d-3/cancel"] = (409, {"code": "Refused", "detail": detail})

    result = run("deletion", "cancel", "d-1", "d-3", "d-2")

    assert (result.code, result.out) == (6, "deletion/d-1\ndeletion/d-2\n")
    assert f"Error: {detail}" in result.err


def test_what_does_not_exist_cannot_be_called_off(run, server):
    server.answers["POST", "/v1/deletions/none/cancel"] = (404, {"code": "NotFound", "detail": "no such deletion"})

    result = run("deletion", "cancel", "none")

    assert (result.code, result.err) == (5, "Error: no such deletion\n")


def test_one_that_failed_is_tried_at_once(run, server, three):
    server.answers["POST", "/v1/deletions/d-2/retry"] = (202, a_deletion("d-2", "b-2").to_wire())

    tried = run("deletion", "retry", "d-2")

    assert (tried.code, tried.out) == (0, "deletion/d-2\n")
    assert "tried again now" in tried.err
