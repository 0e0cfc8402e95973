"""Sessions of browsers: a signed cookie in place of the token, and a guard against guessing."""

import base64
import hashlib
import hmac
import json
import secrets
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import NamedTuple

from tidegate.decide.login_limit import MOST_FAILURES, wait_before_login
from tidegate.errors import TooManyAttempts
from tidegate.model.access import Via

LIFETIME = timedelta(days=7)
# More places and names than this never try at once by honest means; the oldest are forgotten: memory stays bounded.
_MOST_REMEMBERED = 2048


class Holder(NamedTuple):
    """Whose session it is. The stamp ties it to the token or password that it began with."""

    via: Via
    name: str
    stamp: str


class Sessions:
    """Makes and checks cookies. Nothing is stored: what the key signed is good until it expires, or its stamp is old.

    So a restart of the server ends nobody's session, and a new admin.token ends all, because the key comes from it.
    """

    def __init__(self, key: bytes | None = None) -> None:
        self._key = hashlib.sha256(b"tidegate session\0" + (key or secrets.token_bytes(32))).digest()
        # Browsers share cookies between the ports of a host: each server needs a name of its own.
        self.cookie_name = f"tidegate-{hashlib.sha256(self._key).hexdigest()[:8]}"

    def issue(self, holder: Holder, now: datetime) -> str:
        """A cookie that is good for LIFETIME."""
        told = [int((now + LIFETIME).timestamp()), *holder]
        text = base64.urlsafe_b64encode(json.dumps(told).encode()).decode()
        return f"{text}.{self._signature(text)}"

    def read(self, cookie: str, now: datetime) -> Holder | None:
        """Whose it is, if we made it and it is not over yet. Nothing of it is understood before its signature is."""
        text, _, signature = cookie.partition(".")
        if not hmac.compare_digest(signature.encode(), self._signature(text).encode()):
            return None
        expires, via, name, stamp = json.loads(base64.urlsafe_b64decode(text))
        return Holder(Via(via), name, stamp) if expires > now.timestamp() else None

    def _signature(self, text: str) -> str:
        return hmac.new(self._key, text.encode(), hashlib.sha256).hexdigest()


class LoginGuard:
    """Remembers who was wrong lately, by the address that they came from and by the name that they gave."""

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
        """It was right: what went before is forgiven."""
        for key in keys:
            self._failures.pop(key, None)

    def _remember(self, key: str, failures: tuple[datetime, ...]) -> None:
        while len(self._failures) >= _MOST_REMEMBERED:
            del self._failures[next(iter(self._failures))]
        self._failures[key] = failures
