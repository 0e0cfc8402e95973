"""The table of the gates says what the stored transfers say, however it came to know them."""

from hypothesis import given
from hypothesis import strategies as st

from tidegate.decide.transfers.restore_limit import IN_PROGRESS, RESTORE_PRIORITY_LABEL
from tidegate.model.reasons import Reason
from tidegate.model.transfers.transfer import TRANSFERS, DataDownload, TransferPhase
from tidegate.state.transfers import TransferTable
from tidegate.testing.resources.builders import THEN, a_transfer

P = TransferPhase


def pictured(table):
    """All that can be asked of it."""
    return {
        "new": {key: list(lane) for key, lane in table.new.items()},
        "told": {key: lane.told_counts() for key, lane in table.new.items()},
        "prepared": {node: list(lane) for node, lane in table.prepared.items()},
        "moving": +table.moving,
        "carried": +table.carried,
        "restoring": table.restoring,
        "restoring_on": +table.restoring_on,
        "preparing": dict(table.preparing()),
        "uploading": {number: table.uploading(("ns", f"v{number}")) is not None for number in range(3)},
        "ends": sorted(entry.ref for entry in table.labelled_ends()),
        "unlabelled": sorted(entry.ref for entry in table.unlabelled()),
        "waiting": table.waiting_count(),
    }


def shaped(kind, name, phase, *, node, label, reason=None, cancel=False):
    transfer = a_transfer(f"t{name}", phase, kind=kind, node=node, volume=("ns", f"v{name}"))
    transfer = transfer.with_spec(cancel=cancel).with_metadata(labels={RESTORE_PRIORITY_LABEL: label} if label else {})
    return transfer.replace(status=transfer.status.waiting(reason, "x", since=THEN)) if reason else transfer


shapes = st.builds(
    shaped,
    st.sampled_from(TRANSFERS),
    st.integers(0, 2),
    st.sampled_from(list(P)),
    node=st.sampled_from([None, "n", "m"]),
    label=st.sampled_from([None, "5", IN_PROGRESS, "?"]),
    reason=st.sampled_from([None, Reason.NODE_LOAD]),
    cancel=st.booleans(),
)


@given(st.lists(st.tuples(shapes, st.booleans()), max_size=40))
def test_a_table_told_of_every_change_is_the_table_of_the_last_state(history):
    table, stored = TransferTable(), {}
    for transfer, gone in history:
        if gone:
            table.forget(transfer.ref)
            stored.pop(transfer.ref, None)
        else:
            table.note(transfer)
            assert not table.note(transfer), "the same once more makes no difference"
            stored[transfer.ref] = transfer
    fresh = TransferTable()
    for transfer in stored.values():
        fresh.note(transfer)

    assert pictured(table) == pictured(fresh)


def test_what_is_no_longer_listed_is_forgotten_and_other_kinds_are_left_alone():
    table = TransferTable()
    for transfer in (a_transfer("a"), a_transfer("b"), a_transfer("c", kind=DataDownload)):
        table.note(transfer)

    table.replace_all("DataUpload", [a_transfer("b")])

    assert sorted(place.name for lane in table.new.values() for place in lane) == ["b", "c"]


def test_a_movers_progress_makes_no_difference_to_the_gates():
    table, moving = TransferTable(), a_transfer("t", P.IN_PROGRESS, node="n")
    table.note(moving)

    assert table.note(moving.with_status(message="half way")) is False


def test_one_that_is_over_is_remembered_only_until_its_label_is_gone():
    table = TransferTable()
    done = shaped(DataDownload, 1, P.COMPLETED, node="n", label=IN_PROGRESS)
    table.note(done)
    assert [entry.ref for entry in table.labelled_ends()] == [done.ref]
    assert table.restoring == 1, "nobody may be seen to take its slot while it is still seen to hold it"

    assert table.note(done.with_metadata(labels={})) is True
    assert table.restoring == 0
    assert table.entry(done.ref) is None
