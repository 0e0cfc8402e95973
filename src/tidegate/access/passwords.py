"""Passwords as hashes that are slow on purpose: people choose passwords that a fast hash would give away."""

import hashlib
import secrets
import unicodedata
from dataclasses import dataclass
from hmac import compare_digest

_KIND = "scrypt"
_LENGTH = 32
_SALT_BYTES = 16


@dataclass(frozen=True)
class Cost:
    """How slow. Stored with each hash, so that it can be raised later without asking anybody for a password."""

    log2_n: int = 15
    r: int = 8
    p: int = 3
    """The three together: 32 MiB and some tenths of a second."""


def hash_password(password: str, cost: Cost) -> str:
    """What is stored: kind, cost, salt and hash."""
    salt = secrets.token_bytes(_SALT_BYTES)
    return _text(cost, salt, _hash(password, cost, salt))


def hash_of_nobody(cost: Cost) -> str:
    """A hash that no password has, and that takes as long to find out."""
    return _text(cost, secrets.token_bytes(_SALT_BYTES), secrets.token_bytes(_LENGTH))


def password_matches(password: str, stored: str) -> bool:
    """Whether it is the one, in a time that does not tell how nearly. Slow: call it beside the event loop."""
    _kind, log2_n, r, p, salt, expected = stored.split("$")
    found = _hash(password, Cost(int(log2_n), int(r), int(p)), bytes.fromhex(salt))
    return compare_digest(found, bytes.fromhex(expected))


def _text(cost: Cost, salt: bytes, digest: bytes) -> str:
    return f"{_KIND}${cost.log2_n}${cost.r}${cost.p}${salt.hex()}${digest.hex()}"


def _hash(password: str, cost: Cost, salt: bytes) -> bytes:
    # Keyboards differ in how they send the same letters.
    typed = unicodedata.normalize("NFKC", password).encode(errors="surrogatepass")
    n = 1 << cost.log2_n
    return hashlib.scrypt(typed, salt=salt, n=n, r=cost.r, p=cost.p, maxmem=256 * n * cost.r, dklen=_LENGTH)
