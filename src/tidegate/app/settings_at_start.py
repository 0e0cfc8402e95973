"""Settings that a person gave with the command that starts the server. They win over what was set before."""

import structlog

from tidegate.app.options import ServerOptions
from tidegate.errors import AlreadyExists
from tidegate.model.resource import Metadata
from tidegate.model.setting import CONCURRENT_BACKUPS, LOAD_CONCURRENCY, Setting, SettingSpec
from tidegate.ports.resource_store import ResourceStore

log = structlog.get_logger(__name__)


async def write_settings(store: ResourceStore, options: ServerOptions) -> None:
    """Before anybody else writes. What was not given stays as it is."""
    if options.concurrent_backups is not None:
        await _write(store, CONCURRENT_BACKUPS.name, str(options.concurrent_backups))
    if options.load_concurrency is not None:
        await _write(store, LOAD_CONCURRENCY.name, options.load_concurrency.render())


async def _write(store: ResourceStore, name: str, value: str) -> None:
    spec = SettingSpec(value=value)
    try:
        await store.create(Setting(metadata=Metadata(name=name), spec=spec))
    except AlreadyExists:
        stored = await store.get(Setting, name)
        await store.update(stored.replace(spec=spec))
    log.info("setting taken from the configuration", name=name, value=value)
