"""The real workshop: every store, every kind of volume, the machine's clock."""

import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from tidegate.app.machine.allocator import keep_used_memory
from tidegate.app.machine.clock import SystemClock
from tidegate.app.machine.encryption_key import find_key
from tidegate.app.machine.identity import new_id
from tidegate.datapath.workshop import Workshop
from tidegate.objects.backoff import EXPECTANT
from tidegate.objects.bandwidth import Bandwidth
from tidegate.objects.identity import recognise
from tidegate.objects.open import open_store
from tidegate.objects.retrying import Pause
from tidegate.volumes.kept_maps import DirectoryKeptMaps
from tidegate.volumes.open import open_sink, open_source

MAPS_DIR = "TIDEGATE_MAPS_DIR"


def real_workshop(pause: Pause | None = None) -> Workshop:
    """For movers, and for commands that work on a store themselves. `pause` lets waiting for a store be cut short.

    Without it, somebody waits at a terminal.
    """
    keep_used_memory()
    clock = SystemClock()
    return Workshop(
        open_store=partial(open_store, at_first=EXPECTANT) if pause is None else partial(open_store, pause=pause),
        recognise=recognise,
        open_source=open_source,
        open_sink=open_sink,
        clock=clock,
        new_id=new_id,
        find_key=find_key,
        kept_maps=DirectoryKeptMaps(maps_dir(os.environ)),
        bandwidth=Bandwidth(clock.monotonic),
    )


def maps_dir(environment: Mapping[str, str]) -> str:
    """Where this machine remembers its uploads."""
    cache = environment.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return environment.get(MAPS_DIR) or str(Path(cache) / "tidegate" / "maps")
