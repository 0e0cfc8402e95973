"""The one text that stands for the versions of several kinds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.api.event_position import EventPosition, read_position, start_of
from tidegate.errors import InvalidInput
from tidegate.model.backups.backup import Backup
from tidegate.model.kinds import KINDS
from tidegate.model.volumes.volume import Volume
from tidegate.testing.resources.builders import a_backup

VERSIONS = st.text(st.characters(codec="ascii", categories=("L", "N", "P", "S"), exclude_characters=",:"), min_size=1)


@given(st.dictionaries(st.sampled_from(KINDS), VERSIONS, min_size=1))
def test_what_a_position_says_is_read_back_whatever_the_versions_are(versions):
    assert read_position(str(EventPosition(versions)), list(versions)) == versions


def test_a_position_moves_kind_by_kind():
    position = EventPosition({Backup: "b1", Volume: "v1"})
    position.move("volumes", "v2")

    assert str(position) == "backups:b1,volumes:v2"


def test_a_bare_version_is_one_of_the_only_kind():
    assert read_position("x7", [Backup]) == {Backup: "x7"}
    with pytest.raises(InvalidInput, match="'x7' is no position"):
        read_position("x7", [Backup, Volume])


def test_kinds_that_the_stream_is_not_about_are_passed_over():
    assert read_position("volumes:v1,backups:b1", [Backup]) == {Backup: "b1"}


@pytest.mark.parametrize(
    "text", ["", "backups", "backups:", "ships:1", "backups:1,", "backups:1,backups:2", "backups:1:2", "backups:a\nb"]
)
def test_what_is_no_position_is_refused(text):
    with pytest.raises(InvalidInput) as refused:
        read_position(text, [Backup, Volume])
    assert refused.value.field == "since"


async def test_kinds_without_a_version_begin_now(services):
    await services.store.create(a_backup("one"))
    now = {kind: (await services.store.list(kind)).resource_version for kind in (Backup, Volume)}

    start = await start_of(services.store, [Backup, Volume], "volumes:v7")

    assert start.versions == {Backup: now[Backup], Volume: "v7"}


@pytest.mark.parametrize(("since", "knows"), [(None, True), ("backups:{now}", True), ("backups:older", False)])
async def test_a_client_knows_the_places_if_no_backup_has_changed_since_it_listed(services, since, knows):
    await services.store.create(a_backup("one"))
    now = (await services.store.list(Backup)).resource_version

    start = await start_of(services.store, [Volume, Backup], since and since.format(now=now))

    assert start.knows_places is knows
