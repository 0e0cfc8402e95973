"""What a directory in a backup of a file tree holds, as lists show it."""

from datetime import datetime

from tidegate.model.frozen import Model


class ListedFile(Model):
    """One path of the tree."""

    name: str
    """For people: bytes of a name that are no text are shown as U+FFFD."""
    path: str
    """From the tree's root; for people too."""
    key: str
    """The same path percent-encoded, every byte of it: what to send as `path` to ask for this very one."""
    type: str
    """file, directory, symlink, hardlink or fifo."""
    mode: str
    uid: int
    gid: int
    size: int = 0
    modified: datetime
    target: str = ""
    """A symlink's text, or the path that a hard link shares its file with."""


class FilePagination(Model):
    """Where to go on."""

    limit: int
    next: str | None = None
    """To be sent as `marker`; absent on the last page."""


class FileListing(Model):
    """One page of one directory: directories first, then everything else, by name."""

    type: str = "collection"
    resource_type: str = "file"
    backup: str
    volume: str
    """NAMESPACE/NAME."""
    path: str
    data: tuple[ListedFile, ...] = ()
    pagination: FilePagination
