"""Sessions of browsers: a signed cookie in place of the token, and a guard against guessing."""

import hashlib
import hmac
import secrets
from collections.abc import Callable
from datetime import datetime, timedelta

from tidegate.decide.login_limit import MOST_FAILURES, wait_before_login
from tidegate.errors import TooManyAttempts

LIFETIME = timedelta(days=7)
# More places than this never try at once by honest means; the oldest are forgotten, so memory stays bounded.
_MOST_PLACES = 1024


class Sessions:
    """Makes and checks cookies. Nothing is stored: what the key signed is good until it expires.

    So a restart of the server ends nobody's session, and a new token ends all of them, because the key comes from it.
    """

    def __init__(self, key: bytes | None = None) -> None:
        self._key = hashlib.sha256(b"tidegate session\0" + (key or secrets.token_bytes(32))).digest()
        # Browsers share cookies between the ports of a host: each server needs a name of its own.
        self.cookie_name = f"tidegate-{hashlib.sha256(self._key).hexdigest()[:8]}"

    def issue(self, now: datetime) -> str:
        """A cookie that is good for LIFETIME."""
        expires = str(int((now + LIFETIME).timestamp()))
        return f"{expires}.{self._signature(expires)}"

    def is_good(self, cookie: str, now: datetime) -> bool:
        """Whether we made it and it is not over yet."""
        expires, _, signature = cookie.partition(".")
        if not hmac.compare_digest(signature.encode(), self._signature(expires).encode()):
            return False
        return int(expires) > now.timestamp()

    def _signature(self, text: str) -> str:
        return hmac.new(self._key, text.encode(), hashlib.sha256).hexdigest()


class LoginGuard:
    """Remembers who gave wrong tokens lately, by the address that they came from."""

    def __init__(self) -> None:
        self._failures: dict[str, tuple[datetime, ...]] = {}

    def check(self, place: str, now: datetime, token_is_good: Callable[[], bool]) -> bool:
        """Whether the token is good; raises TooManyAttempts, without looking at it, after too many that were not."""
        failures = self._failures.pop(place, ())
        wait = wait_before_login(failures, now)
        if wait is not None:
            self._remember(place, failures)
            raise TooManyAttempts(
                "too many wrong tokens came from here", hint=f"try again in {int(wait.total_seconds()) + 1} seconds"
            )
        if token_is_good():
            return True
        self._remember(place, (*failures, now)[-MOST_FAILURES:])
        return False

    def _remember(self, place: str, failures: tuple[datetime, ...]) -> None:
        while len(self._failures) >= _MOST_PLACES:
            del self._failures[next(iter(self._failures))]
        self._failures[place] = failures
