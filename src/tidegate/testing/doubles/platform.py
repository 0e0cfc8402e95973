"""A platform without processes and files, for tests of the whole server."""

from dataclasses import replace
from typing import Any

from tidegate.app.platform import Platform
from tidegate.ports.clock import Clock
from tidegate.ports.resource_store import ResourceStore
from tidegate.testing.doubles.movers import FakeMovers
from tidegate.testing.doubles.store_probe import FakeStoreProbe
from tidegate.testing.doubles.volume_probe import FakeVolumeProbe
from tidegate.testing.resources.a_state import a_state


def a_platform(store: ResourceStore, clock: Clock, **parts: Any) -> Platform:  # noqa: ANN401  # as Platform has them
    """Over this store; `parts` take the place of the doubles."""
    platform = Platform(
        clock=clock,
        state=a_state(store, clock),
        movers=FakeMovers(),
        store_probe=FakeStoreProbe(),
        volume_probe=FakeVolumeProbe(),
    )
    return replace(platform, **parts)
