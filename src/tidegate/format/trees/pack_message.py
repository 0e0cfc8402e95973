"""A pack of files on its way from one process of a mover to another.

Never stored and never sent elsewhere: both ends are one program, forked from one process. So `marshal` may be used: it
takes a tenth of the time that pickling would take.
"""

import marshal

from tidegate.format.trees.batches import Pack
from tidegate.format.trees.entry import Extent, TreeEntry, quick_file


def encode_pack(pack: Pack) -> bytes:
    """What a file maker must know of the files; they have their bytes in the pack's block."""
    files = [
        (
            entry.path,
            entry.mode,
            entry.uid,
            entry.gid,
            entry.mtime_ns,
            entry.size,
            [tuple(extent) for extent in entry.extents],
            dict(entry.xattrs),
        )
        for entry in pack.files
    ]
    return marshal.dumps((pack.offset, files))


def decode_pack(message: bytes) -> Pack:
    """The same pack. What only a backup needs of a file (its inode, when it was changed) did not travel."""
    offset, files = marshal.loads(message)  # noqa: S302  from a process of our own
    return Pack(offset, [_file(*fields) for fields in files])


def _file(  # noqa: PLR0917  # the fields as they travel
    path: str,
    mode: int,
    uid: int,
    gid: int,
    mtime_ns: int,
    size: int,
    extents: list[tuple[int, int, int]],
    xattrs: dict[str, bytes],
) -> TreeEntry:
    return quick_file(path, mode, uid, gid, mtime_ns, size, tuple([Extent(*extent) for extent in extents]), xattrs)
