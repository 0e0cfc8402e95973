"""Resources in one SQLite file: what a server on one machine keeps its state in.

One thread writes and commits in groups, a few threads read, the event loop never waits for the disk.
"""

from tidegate.resources.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
