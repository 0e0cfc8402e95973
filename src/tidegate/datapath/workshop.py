"""What the data path is given by whoever runs it: stores, volumes, time and identity come in at the door."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from tidegate.format.blocks.encryption_key import EncryptionKey, key_in
from tidegate.model.transfers.mover_job import DownloadJob, TargetAccess, UploadJob
from tidegate.ports.bandwidth import BandwidthLimits
from tidegate.ports.clock import Clock
from tidegate.ports.identity import NewId
from tidegate.ports.kept_maps import KeptMaps
from tidegate.ports.object_store import ObjectStore
from tidegate.ports.volume_data import BackupContent, VolumeSink, VolumeSource


class OpenSource(Protocol):
    """Opens a volume for reading."""

    def __call__(
        self,
        job: UploadJob,
        *,
        block_size: int,
        base: BackupContent | None,
        settled_before: datetime,
        still_wanted: Callable[[], None],
    ) -> VolumeSource:
        """Raises SourceUnreadable. What `base`, an earlier backup, is proven to have as the volume has it is kept.

        A file written to after `settled_before` may be written to again without anyone being able to tell. During long
        preparations `still_wanted` is called and may raise to end them.
        """
        ...


class Wait(Protocol):
    """Waits in a thread."""

    def __call__(self, seconds: float, stop: threading.Event) -> bool:
        """Return once the time has passed (False) or `stop` is set (True), whichever comes first."""
        ...


def wait_in_thread(seconds: float, stop: threading.Event) -> bool:
    """The Wait of everyone but tests."""
    return stop.wait(seconds)


@dataclass(frozen=True, kw_only=True)
class Workshop:
    """Everything that carrying out a job needs beside the job."""

    open_store: Callable[[TargetAccess], ObjectStore]
    recognise: Callable[[ObjectStore, TargetAccess], None] = lambda _objects, _access: None
    """Raises StoreIdentityMissing or StoreIdentityChanged if the store is not that of the target any more."""
    open_source: OpenSource
    open_sink: Callable[[DownloadJob], VolumeSink]
    clock: Clock
    new_id: NewId
    wait: Wait = wait_in_thread
    find_key: Callable[[Mapping[str, str]], EncryptionKey | None] = key_in
    """Among the credentials of a target."""
    kept_maps: KeptMaps | None = None
    """Without them every upload reads everything."""
    bandwidth: BandwidthLimits | None = None
    """A job that begins sets it to what it asks for; it may be changed at any time. Without it: no limits."""
