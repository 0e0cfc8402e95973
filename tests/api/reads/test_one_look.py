"""A list is one look: whoever waits stands somewhere, and nobody stands nowhere, while everything changes."""

import asyncio
import random
from contextlib import suppress

import httpx2
import pytest

from controllers.conftest import World  # type: ignore[import-not-found]  # pytest has tests/ on its path
from tidegate.api.application import build_application
from tidegate.api.services import Services
from tidegate.errors import NotFound, Refused, StaleVersion
from tidegate.model.backups.backup import BACKUP_FINALIZER, Backup, BackupPhase
from tidegate.model.resource import Metadata
from tidegate.model.restores.restore import RESTORE_FINALIZER, Restore, RestoreSpec
from tidegate.testing.clock import settle
from tidegate.testing.machine.documented import DocumentedTransport
from tidegate.testing.resources.builders import a_backup
from tidegate.testing.resources.late_store import LateStore

QUEUED, RUNNING = BackupPhase.QUEUED, BackupPhase.IN_PROGRESS
NAMESPACES = ("a", "b", "c")


def a_client(services):
    transport = DocumentedTransport(build_application(services), raise_app_exceptions=False)
    return httpx2.AsyncClient(transport=transport, base_url="http://test", headers={"Authorization": "Bearer secret"})


@pytest.fixture
async def busy():
    """A server whose table hears of every change some turns later."""
    world = World(store_kind=LateStore)
    world.store.answers_after, world.store.news_after = 2, 4
    await world.start()
    await world.volumes(*(f"{namespace}/db" for namespace in NAMESPACES))
    world.movers.obliging = True
    services = Services(
        world.runtime.state,
        world.clock,
        world.volume_probe,
        world.store_probe,
        token_is_good=lambda _: True,
        version="9.9",
        hooks=world.hooks,
    )
    async with a_client(services) as client:
        yield world, client
    await world.runtime.stop()
    await world.supervisor.close()


async def come_and_go(world, kind, make):
    """Requests that come, are called off and are deleted, for as long as the test looks."""
    dice = random.Random(4)
    for number in range(10_000):
        await world.store.create(make(f"x{number:04}", dice.choice(NAMESPACES)))
        found = [one for one in await world.all(kind) if not one.status.phase.final and not one.deleting]
        if len(found) > 8:
            one = dice.choice(found)
            with suppress(NotFound, Refused, StaleVersion):
                if dice.random() < 0.5:
                    await world.store.delete(one.ref)
                else:
                    await world.store.cancel(one.ref)
        await settle(dice.randint(1, 12))


def live(wire):
    settled = wire["kind"] != "Restore" or "targetVolumes" in wire["status"]
    return settled and not wire["spec"].get("cancel") and "deletionTimestamp" not in wire["metadata"]


async def lists(client, address, *, times):
    for turn in range(times):
        await settle(turn % 7)
        yield (await client.get(address)).json()["data"]


async def holes(world, client, kind, make, *, address, waits):
    """Of many lists under stress: how many had somebody waiting, and which had a hole."""
    churn = asyncio.create_task(come_and_go(world, kind, make))
    seen, bad = 0, []
    async for rows in lists(client, address, times=150):
        waiting = [row for row in rows if row["status"]["phase"] == waits and live(row)]
        places = [row["status"].get("queuePosition") for row in waiting]
        seen += bool(waiting)
        whole = "limit" not in address
        right = sorted(places, key=str) == sorted(range(1, len(places) + 1), key=str) if whole else None not in places
        if not right or len(set(places)) < len(places):
            bad.append(places)
    churn.cancel()
    return seen, bad


def backup(name, namespace):
    return a_backup(name, namespace).with_metadata(finalizers=(BACKUP_FINALIZER,))


def restore(name, namespace):
    spec = RestoreSpec(backup_name="whole", included_namespaces=(namespace,))
    return Restore(metadata=Metadata(name=name, finalizers=(RESTORE_FINALIZER,)), spec=spec)


@pytest.mark.parametrize("address", ["/v1/backups", "/v1/backups?limit=20"])
async def test_every_list_of_backups_under_stress_has_places_without_holes(busy, address):
    world, client = busy
    seen, bad = await holes(world, client, Backup, backup, address=address, waits="Queued")

    assert seen > 50
    assert bad == []


@pytest.mark.parametrize("address", ["/v1/restores", "/v1/restores?limit=4"])
async def test_every_list_of_restores_under_stress_has_places_without_holes(busy, address):
    world, client = busy
    await world.store.create(a_backup("whole", *NAMESPACES))
    await world.settle()
    await world.setting("concurrent-backup-restore-limit", "0")
    seen, bad = await holes(world, client, Restore, restore, address=address, waits="New")

    assert seen > 50
    assert bad == []
