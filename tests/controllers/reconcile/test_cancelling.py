"""Cancelling what a reconciler has asked for."""

from tidegate.controllers.reconcile.cancelling import cancel_all
from tidegate.model.resource import Ref
from tidegate.model.transfers.transfer import DataUpload, TransferPhase
from tidegate.testing.clock import ManualClock
from tidegate.testing.identity import counting_ids
from tidegate.testing.resources.builders import a_transfer
from tidegate.testing.resources.counting_store import CountingStore
from tidegate.testing.resources.put import put


async def test_what_runs_is_cancelled_and_what_has_ended_or_gone_meanwhile_is_passed_over() -> None:
    store = CountingStore(clock=ManualClock(), new_id=counting_ids())
    names = ("ended", "gone", "runs")
    seen = [await put(store, a_transfer(name, TransferPhase.IN_PROGRESS)) for name in names]
    await store.update_status(seen[0].with_status(phase=TransferPhase.COMPLETED))
    await store.delete(Ref("DataUpload", "gone"))

    await cancel_all(store, seen)

    assert not (await store.get(DataUpload, "ended")).spec.cancel
    assert (await store.get(DataUpload, "runs")).spec.cancel


async def test_cancelling_again_writes_nothing() -> None:
    store = CountingStore(clock=ManualClock(), new_id=counting_ids())
    await put(store, a_transfer("runs", TransferPhase.IN_PROGRESS))
    await put(store, a_transfer("ended", TransferPhase.FAILED))
    for _ in range(2):
        await cancel_all(store, (await store.list(DataUpload)).items)

    assert store.asked["cancel"] == 1
