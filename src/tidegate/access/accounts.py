"""Accounts in SQLite, and in memory for every look. Keeps the promise of ports.accounts.

A token is stored as its SHA-256 and no more: it has 256 random bits, so there is nothing to guess and nothing that a
slow hash would make harder. It also makes the look-up safe to time: nobody can choose what a digest begins with.
Passwords are chosen by people and get scrypt.
"""

import asyncio
import hashlib
import secrets
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Self, TypeVar

from tidegate.access.passwords import Cost, hash_of_nobody, hash_password, password_matches
from tidegate.access.schema import access_errors, entry_errors, open_access
from tidegate.errors import AlreadyExists, NotFound
from tidegate.model.access.access import AccessToken, Caller, User, UserChange, Via

T = TypeVar("T")
# Says what a found string is, to people and to programs that look for secrets in the wrong places.
TOKEN_PREFIX = "tidegate_"  # noqa: S105  # the part that is no secret
_USE_IS_NEWS_AFTER = timedelta(minutes=10)
# Each hash takes 32 MiB: as many at once as a small machine can bear.
_HASHING_THREADS = 2


@dataclass(frozen=True)
class _Token:
    record: AccessToken
    digest: str
    stamp: str


@dataclass(frozen=True)
class _User:
    record: User
    password: str
    stamp: str


class SqliteAccounts:
    """All methods belong to one event loop; the disk and the hashing have threads of their own."""

    def __init__(self, path: Path, connection: sqlite3.Connection, cost: Cost) -> None:
        self._path = path
        self._connection = connection
        self._cost = cost
        self._nobody = hash_of_nobody(cost)
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="accounts-writer")
        self._hashing = ThreadPoolExecutor(_HASHING_THREADS, thread_name_prefix="password-hashing")
        self._changing = asyncio.Lock()
        self._tokens = {
            name: _Token(AccessToken.model_validate_json(body), digest, stamp)
            for name, digest, stamp, body in connection.execute("SELECT name, digest, stamp, body FROM tokens")
        }
        self._users = {
            name: _User(User.model_validate_json(body), password, stamp)
            for name, password, stamp, body in connection.execute("SELECT name, password, stamp, body FROM users")
        }
        self._by_digest = {token.digest: name for name, token in self._tokens.items()}

    @classmethod
    def open(cls, path: Path, *, cost: Cost | None = None) -> Self:
        """Read everything: there are as many accounts as people, not as backups."""
        connection = open_access(path)
        with entry_errors(path).translated():
            return cls(path, connection, cost or Cost())

    def close(self) -> None:
        """Finish what was begun."""
        self._hashing.shutdown()
        self._writer.shutdown()
        self._connection.close()

    def tokens(self) -> list[AccessToken]:
        """See Accounts."""
        return [self._tokens[name].record for name in sorted(self._tokens)]

    def users(self) -> list[User]:
        """See Accounts."""
        return [self._users[name].record for name in sorted(self._users)]

    def holder_of(self, secret: str, now: datetime) -> Caller | None:
        """See Accounts."""
        name = self._by_digest.get(_digest(secret))
        return None if name is None else self.known(name, token=True, now=now)

    def known(self, name: str, *, token: bool, now: datetime) -> Caller | None:
        """See Accounts."""
        if token:
            held = self._tokens.get(name)
            return Caller(name, held.record.role, Via.TOKEN) if held and not held.record.is_over(now) else None
        user = self._users.get(name)
        return Caller(name, user.record.role, Via.USER) if user and not user.record.disabled else None

    def stamp_of(self, caller: Caller) -> str | None:
        """See Accounts."""
        held = self._tokens.get(caller.name) if caller.via is Via.TOKEN else self._users.get(caller.name)
        return held.stamp if held else None

    def note_use(self, token: str, now: datetime) -> None:
        """See Accounts."""
        held = self._tokens.get(token)
        last = held.record.last_used_at if held else now
        if held is None or (last is not None and now - last < _USE_IS_NEWS_AFTER):
            return
        noted = replace(held, record=held.record.replace(last_used_at=now))
        self._tokens[token] = noted
        body = noted.record.to_json()
        # Nobody waits for it, and one that is lost costs nothing.
        self._writer.submit(self._commit, "UPDATE tokens SET body = ? WHERE name = ?", (body, token))

    async def make_token(self, token: AccessToken) -> str:
        """See Accounts."""
        secret = TOKEN_PREFIX + secrets.token_urlsafe(32)
        made = _Token(token, _digest(secret), _new_stamp())
        async with self._changing:
            if token.name in self._tokens:
                raise AlreadyExists(f"there is a token {token.name} already", hint="revoke it first, or choose a name")
            row = (token.name, made.digest, made.stamp, token.to_json())
            await self._write("INSERT INTO tokens (name, digest, stamp, body) VALUES (?, ?, ?, ?)", row)
            self._tokens[token.name] = made
            self._by_digest[made.digest] = token.name
        return secret

    async def revoke_token(self, name: str) -> None:
        """See Accounts."""
        async with self._changing:
            if name not in self._tokens:
                raise NotFound(f"there is no token {name[:80]!r}")
            await self._write("DELETE FROM tokens WHERE name = ?", (name,))
            del self._by_digest[self._tokens.pop(name).digest]

    async def make_user(self, user: User, password: str) -> None:
        """See Accounts."""
        hashed = await self._hash(lambda: hash_password(password, self._cost))
        made = _User(user, hashed, _new_stamp())
        async with self._changing:
            if user.name in self._users:
                raise AlreadyExists(f"there is a user {user.name} already", hint="choose another name")
            row = (user.name, made.password, made.stamp, user.to_json())
            await self._write("INSERT INTO users (name, password, stamp, body) VALUES (?, ?, ?, ?)", row)
            self._users[user.name] = made

    async def change_user(self, name: str, change: UserChange, now: datetime) -> User:
        """See Accounts."""
        new = change.password
        self._user(name)  # before the hashing: a name that does not exist is told at once
        hashed = None if new is None else await self._hash(lambda: hash_password(new, self._cost))

        def changed(old: _User) -> _User:
            record = old.record.replace(
                role=change.role or old.record.role,
                disabled=old.record.disabled if change.disabled is None else change.disabled,
                password_changed_at=now if hashed else old.record.password_changed_at,
            )
            ends_sessions = hashed is not None or record.disabled
            return _User(record, hashed or old.password, _new_stamp() if ends_sessions else old.stamp)

        return await self._change(name, changed)

    async def delete_user(self, name: str) -> None:
        """See Accounts."""
        async with self._changing:
            self._user(name)
            await self._write("DELETE FROM users WHERE name = ?", (name,))
            del self._users[name]

    async def user_with(self, name: str, password: str, now: datetime) -> Caller | None:
        """See Accounts."""
        held = self._users.get(name)
        stored = held.password if held else self._nobody
        right = await self._hash(lambda: password_matches(password, stored))
        caller = self.known(name, token=False, now=now)
        # The password may have been changed while we were hashing.
        if held is None or not right or caller is None or self._users[name].password != stored:
            return None
        await self._change(name, lambda old: replace(old, record=old.record.replace(last_login_at=now)))
        return caller

    async def _change(self, name: str, changed: Callable[[_User], _User]) -> User:
        """One after the other, each from what the one before has left."""
        async with self._changing:
            new = changed(self._user(name))
            await self._write(
                "UPDATE users SET password = ?, stamp = ?, body = ? WHERE name = ?",
                (new.password, new.stamp, new.record.to_json(), name),
            )
            self._users[name] = new
            return new.record

    def _user(self, name: str) -> _User:
        if name not in self._users:
            raise NotFound(f"there is no user {name[:80]!r}")
        return self._users[name]

    async def _hash(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._hashing, work)

    async def _write(self, statement: str, values: tuple[str, ...]) -> None:
        await asyncio.get_running_loop().run_in_executor(self._writer, self._commit, statement, values)

    def _commit(self, statement: str, values: tuple[str, ...]) -> None:
        with access_errors(self._path).translated():
            self._connection.execute(statement, values)


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode(errors="surrogatepass")).hexdigest()


def _new_stamp() -> str:
    return secrets.token_hex(8)
