"""Work done by a process that may do less than this one."""

import ctypes
import os
import pickle
import struct
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")

CAP_CHOWN, CAP_FSETID, CAP_SYS_ADMIN = 0, 4, 21
_VERSION = 0x20080522


def without_capability(capability: int, work: Callable[[], Found]) -> Found:
    """What `work` returns in a child process without this one. Raises PermissionError where that cannot be done."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            _drop(capability)
            answer: object = work()
        except BaseException as error:  # noqa: BLE001  raised again in the parent
            answer = error
        with os.fdopen(writing, "wb") as pipe:
            pickle.dump(answer, pipe)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        found = pickle.load(pipe)  # noqa: S301  from a process of our own
    os.waitpid(child, 0)
    if isinstance(found, BaseException):
        raise found
    result: Found = found
    return result


def _drop(capability: int) -> None:
    if os.geteuid() != 0:
        raise PermissionError("only root has capabilities that it can drop")
    libc = ctypes.CDLL(None, use_errno=True)
    header = struct.pack("Ii", _VERSION, 0)
    sets = ctypes.create_string_buffer(24)
    if libc.capget(header, sets) != 0:
        raise PermissionError("the capabilities of this process cannot be read")
    words = list(struct.unpack("6I", sets.raw))
    for place in range(3):  # effective, permitted and inheritable
        words[3 * (capability // 32) + place] &= ~(1 << capability % 32)
    if libc.capset(header, struct.pack("6I", *words)) != 0:
        raise PermissionError("the capability cannot be dropped")
