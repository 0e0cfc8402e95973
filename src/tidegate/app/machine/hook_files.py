"""Hooks as files in the data directory: what the operator put there can be run, and nothing else."""

import asyncio
import contextlib
import os
import signal
import stat
from asyncio.subprocess import DEVNULL, PIPE, STDOUT, Process
from pathlib import Path

import structlog

from tidegate.errors import InvalidInput
from tidegate.model.duration import format_duration
from tidegate.ports.hook_runner import HookRun

log = structlog.get_logger(__name__)

_KEPT_OUTPUT = 2048
_LAST_WORDS_SECONDS = 1.0
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_FIELD = "spec.hooks"


class HookFiles:
    """Keeps the promise of HookRunner with executable files of one directory, each run in a process group of its own.

    Which groups run is noted in `running`, because a hook does not end by itself when its server is killed.
    """

    def __init__(self, directory: Path, *, running: Path) -> None:
        self._directory = directory.absolute()
        self._running = running
        self._groups: set[int] = set()
        self._closed = False

    async def check(self, command: tuple[str, ...]) -> None:
        """See HookRunner."""
        await asyncio.to_thread(self._checked, command[0])

    async def run(self, run: HookRun) -> str | None:
        """See HookRunner."""
        try:
            # Again: it may have been changed since the backup was made.
            path = await asyncio.to_thread(self._checked, run.command[0])
            process = await asyncio.create_subprocess_exec(
                path,
                *run.command[1:],
                stdin=DEVNULL,
                stdout=PIPE,
                stderr=STDOUT,
                cwd=self._directory,
                env=_environment(run),
                start_new_session=True,
            )
        except InvalidInput as error:
            return error.message
        except (OSError, ValueError) as error:
            return f"{run.command[0]} could not be started: {error}"
        return await self._watched(process, run)

    def close(self) -> None:
        """End all that run, and those that are just being started."""
        self._closed = True
        for group in self._groups:
            _end_group(group)

    def end_leftovers(self) -> None:
        """End the hooks that a server which was killed left running."""
        if not self._running.is_dir():
            return
        for note in self._running.iterdir():
            # A number alone proves nothing: another process may have it by now.
            if note.name.isdecimal() and note.read_text() == _birth(int(note.name)) != "":
                log.warning("ending a hook that the last server left running", group=note.name)
                _end_group(int(note.name))
            note.unlink(missing_ok=True)

    async def _watched(self, process: Process, run: HookRun) -> str | None:
        note = self._running / str(process.pid)
        self._groups.add(process.pid)
        if self._closed:
            _end_group(process.pid)
        output = _Output(process)
        try:
            self._running.mkdir(exist_ok=True, mode=0o700)
            note.write_text(_birth(process.pid))
            async with asyncio.timeout(run.timeout.total_seconds()):
                code = await process.wait()
        except TimeoutError:
            _end_group(process.pid)
            return f"{run.command[0]} took longer than {format_duration(run.timeout)}{await output.told()}"
        finally:
            _end_group(process.pid)  # also what it left in the background: nothing may act behind the server's back
            await process.wait()
            self._groups.discard(process.pid)
            note.unlink(missing_ok=True)
        said = await output.told()
        if code == 0:
            return None
        how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        return f"{run.command[0]} {how}{said}"

    def _checked(self, name: str) -> Path:
        path = self._directory / name
        hint = f"put an executable file there that only its owner can write: {path}"
        if not name or "/" in name or name.startswith("."):
            raise InvalidInput(f"{name!r} is not the plain name of a hook", field=_FIELD, hint=hint)
        try:
            found, room = path.lstat(), self._directory.stat()
        except OSError as error:
            raise InvalidInput(f"there is no hook {name} ({error.strerror})", field=_FIELD, hint=hint) from None
        if not stat.S_ISREG(found.st_mode):
            raise InvalidInput(f"hook {name} is not a plain file", field=_FIELD, hint=hint)
        if (found.st_mode | room.st_mode) & (stat.S_IWGRP | stat.S_IWOTH):
            raise InvalidInput(f"hook {name} can be changed by others than its owner", field=_FIELD, hint=hint)
        if not {found.st_uid, room.st_uid} <= {0, os.geteuid()}:
            raise InvalidInput(f"hook {name} belongs to somebody else than the server", field=_FIELD, hint=hint)
        if not os.access(path, os.X_OK):
            raise InvalidInput(f"hook {name} is not executable", field=_FIELD, hint=f"run: chmod u+x {path}")
        return path


def _environment(run: HookRun) -> dict[str, str]:
    """Nothing of the server's own: it may hold keys."""
    return {
        "PATH": _PATH,
        "TIDEGATE_HOOK": run.stage,
        "TIDEGATE_BACKUP": run.backup,
        "TIDEGATE_NAMESPACE": run.namespace,
        "TIDEGATE_VOLUMES": " ".join(run.volumes),
        **({"TIDEGATE_RESTORED": run.place} if run.place else {}),
    }


class _Output:
    """The tail of what a hook said."""

    def __init__(self, process: Process) -> None:
        self._tail = b""
        self._task = asyncio.create_task(self._read(process))

    async def told(self) -> str:
        """To be added to a sentence. Something that ran away from its group may hold the pipe open: not waited for."""
        await asyncio.wait({self._task}, timeout=_LAST_WORDS_SECONDS)
        self._task.cancel()
        words = self._tail.decode(errors="replace").strip()
        return f"; it said: {words}" if words else ""

    async def _read(self, process: Process) -> None:
        assert process.stdout is not None  # noqa: S101  # asked for at the start
        while chunk := await process.stdout.read(_KEPT_OUTPUT):
            self._tail = (self._tail + chunk)[-_KEPT_OUTPUT:]


def _end_group(group: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def _birth(pid: int) -> str:
    """When the process began, as the system counts; empty if there is none."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return fields[19]
