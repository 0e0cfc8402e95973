"""What a device says at its beginning while it is restored in place.

There is nothing beside a device that a restore could be built in. So its first block, where every file system, volume
group and partition table has its name, is written last, and until then says in words what happened. A device that was
left half written is then nothing that anybody would mount, and nothing that we would back up.
"""

import os

from tidegate.errors import SourceUnreadable

MARK = b"Tidegate: a restore onto this device was not finished. What it holds is not whole; restore onto it again.\n"


def refuse_unfinished(handle: int, path: str) -> None:
    """Raise SourceUnreadable if what is open there begins with the mark."""
    try:
        beginning = os.pread(handle, len(MARK), 0)
    except OSError:
        return  # whoever reads it will say so
    if beginning == MARK:
        raise SourceUnreadable(
            f"{path} holds a restore that was not finished and is not whole", hint="restore onto it again first"
        )
