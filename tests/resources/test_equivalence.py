"""Any sequence of writes has the same results in every store that we keep ourselves."""

import asyncio
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from tidegate.errors import TidegateError
from tidegate.model.backups.backup import Backup
from tidegate.model.labels import Selector
from tidegate.model.resource import OwnerReference
from tidegate.ports.resource_store import ResourceStore
from tidegate.resources.memory import MemoryStore
from tidegate.resources.sqlite import SqliteStore
from tidegate.resources.versions import DECIMAL
from tidegate.testing.clock import ManualClock
from tidegate.testing.identity import counting_ids
from tidegate.testing.resources.resources import a_backup, take

NAMES = st.sampled_from(["a", "b", "c", "d"])
LABELS = st.dictionaries(st.sampled_from(["x", "y"]), st.sampled_from(["1", "2"]))
FINALIZERS = st.lists(st.sampled_from(["f", "g"]), max_size=2, unique=True).map(tuple)
# Some of them belong to nothing that ever lives.
OWNERS = st.lists(st.sampled_from(["uid-1", "uid-2", "uid-3", "nobody"]), max_size=2).map(tuple)


@dataclass(frozen=True)
class Step:
    verb: str
    name: str
    labels: dict[str, str]
    finalizers: tuple[str, ...]
    owners: tuple[str, ...]
    number: int
    stale: bool

    @property
    def metadata(self) -> dict[str, object]:
        owners = tuple(OwnerReference(kind="Backup", name="any", uid=uid) for uid in self.owners)
        return {"labels": self.labels, "finalizers": self.finalizers, "owner_references": owners}


STEPS = st.lists(
    st.builds(
        Step,
        verb=st.sampled_from(["create", "create", "update", "update", "status", "cancel", "delete", "list"]),
        name=NAMES,
        labels=LABELS,
        finalizers=FINALIZERS,
        owners=OWNERS,
        number=st.integers(0, 2),
        stale=st.integers(0, 9).map(lambda tenth: tenth == 0),
    ),
    max_size=25,
)


async def outcome(store: ResourceStore, step: Step) -> object:
    try:
        return await perform(store, step)
    except TidegateError as error:
        return error.code, str(error)


async def perform(store: ResourceStore, step: Step) -> object:
    match step.verb:
        case "create":
            return await store.create(a_backup(step.name, **step.metadata).with_status(warnings=step.number))
        case "delete":
            await store.delete(a_backup(step.name).ref)
            return None
        case "cancel":
            return await store.cancel(a_backup(step.name).ref, uid=step.owners[0] if step.owners else None)
        case "list":
            return await store.list(Backup, selector=Selector.matching(step.labels), limit=step.number + 1)
    current = await store.get(Backup, step.name)
    if step.stale:
        current = current.with_metadata(resource_version="0")
    if step.verb == "status":
        return await store.update_status(current.with_status(warnings=step.number))
    return await store.update(current.with_metadata(**step.metadata).with_spec(priority=step.number))


async def story(store: ResourceStore, steps: Sequence[Step]) -> list[object]:
    """All that a caller can see: each answer, the end, and every event on the way."""
    seen = [await outcome(store, step) for step in steps]
    seen += (await store.list(Backup)).items
    end = await store.create(a_backup("end"))
    count = int(end.metadata.resource_version)
    return [*seen, *await take(store.watch(Backup, since="0"), count)]


def in_memory(steps: Sequence[Step]) -> list[object]:
    return asyncio.run(story(MemoryStore(clock=ManualClock(), new_id=counting_ids(), versions=DECIMAL), steps))


def in_sqlite(steps: Sequence[Step]) -> list[object]:
    async def run(path: Path) -> list[object]:
        store = await SqliteStore.open(path, clock=ManualClock(), new_id=counting_ids())
        try:
            return await story(store, steps)
        finally:
            await store.close()

    with tempfile.TemporaryDirectory() as directory:
        return asyncio.run(run(Path(directory) / "state.db"))


@settings(max_examples=80, deadline=None)
@given(STEPS)
def test_memory_and_sqlite_tell_the_same_story(steps: list[Step]) -> None:
    stories: list[Callable[[Sequence[Step]], list[object]]] = [in_memory, in_sqlite]

    first, second = (tell(steps) for tell in stories)

    assert first == second
