"""The key that a person gives for an encrypted store, and the keys for single purposes that are made from it.

No purpose and no volume ever shares a key with another one, so nothing that one of them gives away helps with the rest.
"""

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from tidegate.errors import InvalidInput

KEY = "TIDEGATE_ENCRYPTION_KEY"
KEY_FILE = "TIDEGATE_ENCRYPTION_KEY_FILE"
KEY_BYTES = 32
_HEX = re.compile(r"[0-9a-fA-F]{64}")
_LABEL = "tidegate.dev/encryption/v1/"
_ID_BYTES = 8


@dataclass(frozen=True)
class EncryptionKey:
    """32 secret bytes. They are never part of a message, a log or a representation."""

    secret: bytes = field(repr=False)

    def __post_init__(self) -> None:
        if len(self.secret) != KEY_BYTES:
            raise InvalidInput(f"an encryption key has {KEY_BYTES} bytes", field=KEY)

    @property
    def id(self) -> str:
        """What a cfg says about the key: tells whether it is the right one, and nothing else about it."""
        return self._derive("key-id", _ID_BYTES).hex()

    def sub_key(self, purpose: str, *, volume: str) -> bytes:
        """The key for one purpose in one volume."""
        return self._derive(f"{purpose}/{volume}", KEY_BYTES)

    def _derive(self, label: str, length: int) -> bytes:
        # Here: most stores are not encrypted, and most processes need not load the library.
        from cryptography.hazmat.primitives.hashes import SHA512
        from cryptography.hazmat.primitives.kdf.hkdf import HKDF

        info = f"{_LABEL}{label}".encode()
        return HKDF(algorithm=SHA512(), length=length, salt=None, info=info).derive(self.secret)

    @classmethod
    def parse(cls, text: str) -> "EncryptionKey":
        """From 64 hexadecimal digits or base64; raises InvalidInput, which does not repeat the text."""
        text = text.strip()
        try:
            secret = bytes.fromhex(text) if _HEX.fullmatch(text) else base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError):
            secret = b""
        if len(secret) != KEY_BYTES:
            raise InvalidInput(
                f"{KEY} should be {KEY_BYTES} bytes, written as base64 or as 64 hexadecimal digits",
                field=KEY,
                hint="make one with: openssl rand -base64 32",
            )
        return cls(secret)


def key_in(credentials: Mapping[str, str]) -> EncryptionKey | None:
    """The key among a target's credentials; None if backups there are not to be encrypted."""
    if credentials.get(KEY_FILE) and not credentials.get(KEY):
        # Going on without it would write in the clear what was meant to be secret.
        raise InvalidInput(f"{KEY_FILE} was not read before the work began", field=KEY_FILE)
    return EncryptionKey.parse(credentials[KEY]) if KEY in credentials else None
