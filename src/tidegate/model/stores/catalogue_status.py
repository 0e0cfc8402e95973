"""How the catalogue stands: how old it is, what is being read, and what somebody must look at."""

from datetime import datetime

from tidegate.model.frozen import Model
from tidegate.model.stores.target import SyncStatus


class SyncForecast(Model):
    """When a sync begins that was just asked for."""

    due_at: datetime | None = None
    """Absent if nobody can know; the message says what it waits for."""
    message: str = ""


class VolumeSync(Model):
    """How the sync of one volume goes that somebody asked for."""

    target: str
    volume: str
    pending: bool = False
    """Not yet seen since it was asked for."""
    running: bool = False
    asked_at: datetime | None = None
    failures: int = 0
    """In a row, since the last one that saw everything."""
    message: str = ""
    """What the last failure said."""
    forecast: SyncForecast | None = None
    """When what is pending begins."""


class CatalogueDamage(Model):
    """What of a target could not be read, as the last syncs found it: cfgs that are broken."""

    volumes: int = 0
    backups: int = 0
    named: tuple[str, ...] = ()
    """The first of them, each with what is wrong with it."""


class TargetCatalogue(Model):
    """What the catalogue has of one target."""

    name: str
    available: bool | None = None
    """Whether it answered when we last looked; absent until somebody looked."""
    since: datetime | None = None
    """Since when that is so."""
    message: str = ""
    last_synced_at: datetime | None = None
    """When the last sync began that saw the whole store. Absent: not read yet, so lists may lack what it holds."""
    sync: SyncStatus = SyncStatus()
    held_back: str = ""
    """What vanished and waits for a confirmation; empty if nothing does."""
    volumes: int = 0
    backups: int = 0
    damage: CatalogueDamage = CatalogueDamage()
    """How many of them cannot be read; names none."""


class CatalogueStatus(Model):
    """The whole catalogue."""

    volumes: int = 0
    backups: int = 0
    targets: tuple[TargetCatalogue, ...] = ()
