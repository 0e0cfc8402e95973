"""The server's directory: who owns it, where the token is, how the CLI finds the server."""

import contextlib
import errno
import fcntl
import json
import os
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from hmac import compare_digest
from pathlib import Path

import structlog

from tidegate.app.machine.disk_reserve import keep_reserve
from tidegate.disk.private_file import keep_private
from tidegate.errors import AlreadyRunning, DatabaseDamaged, InvalidInput, NoSpace
from tidegate.resources.sqlite.schema import WAY_BACK

log = structlog.get_logger(__name__)

# What SQLite and we put beside a database.
_BESIDE_DATABASES = ("-wal", "-shm", "-journal", ".lock", ".unusable")


@dataclass
class DataDir:
    """A directory that one server owns at a time. Owning it ends with the process, however it ends."""

    path: Path
    _lock: int | None = field(default=None, repr=False)

    @property
    def database(self) -> Path:
        """The resources."""
        return self.path / "tidegate.db"

    @property
    def catalogue(self) -> Path:
        """What all stores hold; made anew from them if it is thrown away while no server runs."""
        return self.path / "catalogue.sqlite"

    @property
    def access(self) -> Path:
        """Users, tokens and the audit; hashes of secrets are in no other file."""
        return self.path / "access.sqlite"

    @property
    def address_file(self) -> Path:
        """Where the running server is."""
        return self.path / "server.json"

    @property
    def token_file(self) -> Path:
        """The admin's token."""
        return self.path / "admin.token"

    @property
    def secrets(self) -> Path:
        """One file per secret; people write them."""
        return self.path / "secrets"

    @property
    def hooks(self) -> Path:
        """The only programs that a backup can have run; people put them there."""
        return self.path / "hooks"

    @property
    def hooks_running(self) -> Path:
        """Which hooks run now, for the server after this one."""
        return self.path / "hooks-running"

    @property
    def scratch(self) -> Path:
        """Where verifications restore to, unless a setting says otherwise; empty when none is under way."""
        return self.path / "scratch"

    @property
    def maps(self) -> Path:
        """What movers remember of their uploads; may be thrown away."""
        return self.path / "maps"

    def warn_of_loss(self) -> None:
        """Say if a server has worked here whose resources are gone. It starts all the same: that is the way back."""
        if self.access.exists() and not self.database.exists():
            log.warning("the database is gone; all begins anew", path=str(self.database), way_back=WAY_BACK)

    def take(self) -> None:
        """Become the owner; raises AlreadyRunning if somebody else is."""
        try:
            self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._keep_private()
            lock = os.open(self.path / "server.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise _unusable(self.path, error) from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(lock)
            raise AlreadyRunning(
                f"another server{self._owner()} is using {self.path}",
                hint="stop it, or give this one its own --data-dir",
            ) from None
        self._lock = lock
        with contextlib.suppress(OSError):  # what is wrong with the directory shows where something is written
            keep_reserve(self.path / "reserve")
        self._check_database()

    def _keep_private(self) -> None:
        """For directories that an older version or a person made with other rights."""
        files = [
            beside
            for path in (self.database, self.catalogue, self.access)
            for beside in (path, *(path.with_name(f"{path.name}{end}") for end in _BESIDE_DATABASES))
        ]
        files += [self.token_file, self.address_file, self.path / "server.lock"]
        for path in keep_private([self.path, self.secrets, self.hooks_running, self.scratch, self.maps, *files]):
            log.warning("others may look into it, and it is not ours to change", path=str(path))

    def release(self) -> None:
        """Stop being found, then let others in."""
        self.address_file.unlink(missing_ok=True)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def announce(self, url: str) -> None:
        """Let the CLI on this machine find the server."""
        _write_private(self.address_file, json.dumps({"url": url, "pid": os.getpid()}) + "\n")

    def token(self) -> str:
        """The admin's token; made at the first start, in a file that only its owner can read."""
        try:
            token = self.token_file.read_text().strip()
        except FileNotFoundError:
            token = secrets.token_urlsafe(32)
            _write_private(self.token_file, token + "\n")
        except OSError as error:
            raise _unusable(self.token_file, error) from error
        except UnicodeDecodeError:
            token = ""
        if not any(character.isalnum() for character in token):  # a byte order mark is no token either
            raise InvalidInput(
                f"{self.token_file} holds no token",
                hint="delete it, and the next start makes a new one; or write one into it",
            )
        return token

    def _check_database(self) -> None:
        """Raise DatabaseDamaged for a file that lost its content: SQLite would take it for a new one."""
        if self.access.exists() and self.database.exists() and self.database.stat().st_size == 0:
            raise DatabaseDamaged(f"{self.database} is empty, but this data directory has been used", hint=WAY_BACK)

    def _owner(self) -> str:
        try:
            return f" (pid {json.loads(self.address_file.read_text())['pid']})"
        except (OSError, ValueError, KeyError):
            return ""


def token_check(token: str) -> Callable[[str], bool]:
    """A check that takes the same time however much of a guess is right."""
    expected = token.encode()
    return lambda given: compare_digest(given.encode(errors="surrogatepass"), expected)


def _write_private(path: Path, text: str) -> None:
    """Whole or not at all, readable by the owner only from the first byte on."""
    temporary = path.with_name(f".{path.name}.new")
    try:
        temporary.unlink(missing_ok=True)
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise _unusable(path, error) from error


def _unusable(path: Path, error: OSError) -> InvalidInput | NoSpace:
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return NoSpace(f"no space left for {path}", hint="free some space, or use another --data-dir")
    return InvalidInput(f"cannot use {path}: {error.strerror}", hint="give a directory of your own with --data-dir")
