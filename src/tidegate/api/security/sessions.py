"""Sessions of browsers: a signed cookie in place of the token, and a guard against guessing."""

import base64
import hashlib
import hmac
import json
import secrets
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from tidegate.decide.access.login_limit import MOST_FAILURES, wait_before_login
from tidegate.errors import TooManyAttempts
from tidegate.model.access.access import Via
from tidegate.ports.ended_sessions import EndedSessions, SessionsEndedInMemory

LIFETIME = timedelta(days=7)
# More places and names than this never try at once by honest means; the oldest are forgotten: memory stays bounded.
_MOST_REMEMBERED = 2048


class Holder(NamedTuple):
    """Whose session it is. The stamp ties it to the token or password that it began with."""

    via: Via
    name: str
    stamp: str


class Sessions:
    """Makes and checks cookies. What the key signed is good until it expires, its stamp is old, or a logout ended it.

    Only logouts are stored: so a restart of the server ends no session, and a new admin.token ends all, because the
    key comes from it.
    """

    def __init__(self, key: bytes | None = None, ended: EndedSessions | None = None) -> None:
        self._ended = ended or SessionsEndedInMemory()
        self._key = hashlib.sha256(b"tidegate session\0" + (key or secrets.token_bytes(32))).digest()
        # Browsers share cookies between the ports of a host: each server needs a name of its own.
        self.cookie_name = f"tidegate-{hashlib.sha256(self._key).hexdigest()[:8]}"

    def issue(self, holder: Holder, now: datetime) -> str:
        """A cookie that is good for LIFETIME."""
        # The last makes each session another one: to end one must not end those that began in the same second.
        told = [int((now + LIFETIME).timestamp()), *holder, secrets.token_hex(8)]
        text = base64.urlsafe_b64encode(json.dumps(told).encode()).decode()
        return f"{text}.{self._signature(text)}"

    def read(self, cookie: str, now: datetime) -> Holder | None:
        """Whose it is, if we made it and it is not over yet. Nothing of it is understood before its signature is."""
        text, _, signature = cookie.partition(".")
        if not hmac.compare_digest(signature.encode(), self._signature(text).encode()):
            return None
        expires, via, name, stamp, *_ = json.loads(base64.urlsafe_b64decode(text))
        if expires <= now.timestamp() or _digest(text) in self._ended:
            return None
        return Holder(Via(via), name, stamp)

    async def end(self, cookie: str, now: datetime) -> None:
        """Make a cookie worthless before its time. Of one that is worthless already, nothing is remembered."""
        if self.read(cookie, now) is None:
            return
        text = cookie.partition(".")[0]
        expires = json.loads(base64.urlsafe_b64decode(text))[0]
        await self._ended.end(_digest(text), datetime.fromtimestamp(expires, UTC), now)

    def _signature(self, text: str) -> str:
        return hmac.new(self._key, text.encode(), hashlib.sha256).hexdigest()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


class LoginGuard:
    """Remembers who was wrong lately, by what they showed, the address that they came from and the name they gave."""

    def __init__(self) -> None:
        self._failures: dict[str, tuple[datetime, ...]] = {}

    def begin(self, keys: Iterable[str], now: datetime) -> None:
        """Raise TooManyAttempts if one of these was wrong too often; else count this try as wrong until it was right.

        Counted before it is looked at: of a thousand tries at the same instant, the last ones must already wait.
        """
        keys = tuple(keys)
        waits = [wait for key in keys if (wait := wait_before_login(self._failures.get(key, ()), now)) is not None]
        if waits:
            seconds = int(max(waits).total_seconds()) + 1
            raise TooManyAttempts("too many wrong logins", hint=f"try again in {seconds} seconds")
        for key in keys:
            self._remember(key, (*self._failures.pop(key, ()), now)[-MOST_FAILURES:])

    def succeed(self, keys: Iterable[str]) -> None:
        """It was right: this try does not count. Those before it do, or a right login would buy ten more guesses."""
        for key in keys:
            earlier = self._failures.pop(key, ())[:-1]
            if earlier:
                self._remember(key, earlier)

    def _remember(self, key: str, failures: tuple[datetime, ...]) -> None:
        while len(self._failures) >= _MOST_REMEMBERED:
            del self._failures[next(iter(self._failures))]
        self._failures[key] = failures
