"""What a cfg says of encryption: the scheme, and which key it takes. Without the key it tells nothing else."""

import re

from tidegate.errors import DamagedMetadata, WrongKey
from tidegate.format.blocks.encryption_key import EncryptionKey

SCHEME = "aes-256-gcm-v1"
_MARK = re.compile(r"([0-9a-z-]{1,40}):([0-9a-f]{16})")


def mark_of(key: EncryptionKey) -> str:
    """The mark of whatever is sealed with this key."""
    return f"{SCHEME}:{key.id}"


def check_mark(mark: str, key: EncryptionKey | None, *, what: str) -> None:
    """Raise WrongKey with one sentence unless `key` is the one; DamagedMetadata for a scheme that nobody knows here."""
    read = _MARK.fullmatch(mark)
    if read is None or read[1] != SCHEME:
        raise DamagedMetadata(
            f"{what} is encrypted in a way that this program does not know ({mark[:60]!r})",
            hint="restore it with a newer version of Tidegate",
        )
    hint = "give it as TIDEGATE_ENCRYPTION_KEY, or its file as TIDEGATE_ENCRYPTION_KEY_FILE"
    if key is None:
        raise WrongKey(f"{what} is encrypted with key {read[2]}, and no key was given", hint=hint)
    if key.id != read[2]:
        raise WrongKey(f"{what} is encrypted with key {read[2]}, and the key given is {key.id}", hint=hint)
