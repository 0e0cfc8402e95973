"""Restores, verifications and volumes as figures: the same whatever way the news came."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from tidegate.model.resource import Metadata
from tidegate.model.restores.restore import RestorePhase
from tidegate.model.verification.verification import Verification, VerificationPhase, VerificationSpec
from tidegate.state.scrape_figures import ScrapeFigures
from tidegate.testing.resources.builders import a_backup, a_restore, a_volume

THEN = datetime(2026, 1, 1, tzinfo=UTC)


def some_restore(number, hours):
    return a_restore(f"r{number}", "ns", phase=list(RestorePhase)[hours % len(RestorePhase)])


def a_verification(number, hours):
    phase = list(VerificationPhase)[hours % len(VerificationPhase)]
    made = Verification(metadata=Metadata(name=f"r{number}"), spec=VerificationSpec(schedule_name="nightly"))
    return made.with_status(phase=phase, completion_timestamp=THEN + timedelta(hours=hours))


def some_volume(number, hours):
    at, doubt = THEN + timedelta(hours=hours) if hours else None, "it is lost" if hours > 6 else None
    return a_volume("ns", f"v{number}").with_status(last_backup_at=at, last_backup_doubt=doubt)


KINDS = {"Restore": some_restore, "Verification": a_verification, "Volume": some_volume}
CHANGES = st.lists(
    st.tuples(st.sampled_from(list(KINDS)), st.integers(0, 3), st.integers(0, 9), st.booleans()), max_size=20
)


def told(figures):
    restores = figures.restore_phases(), figures.restore_reasons()
    return restores, sorted(figures.verifications(), key=str), figures.last_backups(), figures.doubtful_backups()


@given(CHANGES)
def test_figures_told_of_every_change_equal_those_of_a_list(changes):
    followed, stored = ScrapeFigures(), {}
    for kind, number, hours, gone in changes:
        resource = KINDS[kind](number, hours)
        if gone:
            followed.forget(resource.ref)
            stored.pop(resource.ref, None)
        else:
            followed.note(resource)
            stored[resource.ref] = resource
    listed = ScrapeFigures()
    for kind, made in KINDS.items():
        listed.note(made(9, 9))  # what is not in the list is gone
        listed.replace_all(kind, [resource for ref, resource in stored.items() if ref.kind == kind])

    assert told(followed) == told(listed)


def test_what_is_of_another_kind_is_passed_over():
    figures = ScrapeFigures()
    figures.note(a_backup("b", "ns"))
    figures.replace_all("Backup", [a_backup("b", "ns")])

    assert told(figures) == (({}, {}), [], [], 0)
