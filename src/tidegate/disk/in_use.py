"""Who uses a file, a directory or a device right now, as far as Linux tells. No answer is no promise."""

import contextlib
import errno
import fcntl
import os
import re
import signal
from collections.abc import Iterable, Iterator

from tidegate.disk.file_system import is_local

# How the system writes a space, a tab, a line's end or a backslash.
_ESCAPED = re.compile(rb"\\([0-7]{3})")


def user_of_file(path: str) -> str | None:
    """Who has the regular file open: a process, a loop device, or somebody who is not to be seen. None: nobody."""
    found = os.stat(path)
    wanted = (found.st_dev, found.st_ino)
    for process, handle, _ in _open_files():
        with contextlib.suppress(OSError):
            facts = os.stat(handle)
            if (facts.st_dev, facts.st_ino) == wanted:
                return _name_of(process)
    return _loop_device_on(path) or ("somebody who cannot be seen from here" if _is_open_elsewhere(path) else None)


def user_below(directory: str) -> str | None:
    """A process that has a file in this directory open, or deeper. None: nobody."""
    for process, _, target in _open_files():
        if target.startswith(f"{directory}/"):
            return _name_of(process)
    return None


def users_of(paths: Iterable[str]) -> dict[str, str]:
    """Who has each of many files, or anything in each of many directories, open: all processes are looked at once."""
    wanted = {os.path.realpath(path): path for path in paths}
    found: dict[str, str] = {}
    for process, _, target in _open_files():
        while len(target) > 1:
            if target in wanted:
                found.setdefault(wanted[target], _name_of(process))
            target = os.path.dirname(target)  # noqa: PLW2901  # from a file up to all directories that it lies in
    return found


def mounts_below(directory: str) -> list[str]:
    """Where something is mounted deeper than this directory."""
    return [place for _, place in _mounts() if place.startswith(f"{directory.rstrip('/')}/")]


def user_of_device(path: str) -> str | None:
    """Where the device is mounted, or what is built on it (LVM, RAID, encryption). None: neither is known."""
    number = os.stat(path).st_rdev
    name = f"{os.major(number)}:{os.minor(number)}"
    for device, place in _mounts():
        if device == name:
            return f"mounted at {place}"
    with contextlib.suppress(OSError):
        holders = sorted(os.listdir(f"/sys/dev/block/{name}/holders"))
        if holders:
            return f"held by {', '.join(holders)}"
    return None


def _open_files() -> Iterator[tuple[str, str, str]]:
    """(process, path of its handle, what that leads to) of all processes but ours that we may look at."""
    ours = str(os.getpid())
    for process in os.listdir("/proc"):
        if not process.isdigit() or process == ours:
            continue
        with contextlib.suppress(OSError):
            for number in os.listdir(f"/proc/{process}/fd"):
                handle = f"/proc/{process}/fd/{number}"
                with contextlib.suppress(OSError):
                    target = os.readlink(handle)
                    if target.startswith("/"):
                        yield process, handle, target


def _name_of(process: str) -> str:
    with contextlib.suppress(OSError), open(f"/proc/{process}/comm", encoding="utf-8", errors="replace") as file:
        return f"{file.read().strip()} (process {process})"
    return f"process {process}"


def _loop_device_on(path: str) -> str | None:
    with contextlib.suppress(OSError):
        for name in os.listdir("/sys/block"):
            with (
                contextlib.suppress(OSError),
                open(f"/sys/block/{name}/loop/backing_file", encoding="utf-8", errors="replace") as file,
            ):
                if file.read().strip() == path:
                    return f"/dev/{name}"
    return None


def _is_open_elsewhere(path: str) -> bool:
    """Asks for a lease, which is granted only to the one who alone has the file open, and gives it back."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not is_local(handle):
            return False  # a share answers for reasons of its own
        # Who opens it in this very moment makes the system signal us; the usual signal would end the process.
        fcntl.fcntl(handle, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except OSError as error:
        return error.errno == errno.EAGAIN  # anything else: not our file, or no leases here
    finally:
        os.close(handle)
    return False


def _mounts() -> Iterator[tuple[str, str]]:
    """(major:minor, mount point) of everything that this process sees mounted."""
    with contextlib.suppress(OSError), open("/proc/self/mountinfo", "rb") as file:
        for line in file:
            fields = line.split(b" ")
            yield fields[2].decode(), os.fsdecode(_ESCAPED.sub(lambda found: bytes([int(found[1], 8)]), fields[4]))
