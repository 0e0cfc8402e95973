"""`lock-<16 hex>.lck`: what one client says about its work on a volume. When it said so is the object's own time."""

from dataclasses import dataclass
from datetime import timedelta
from enum import IntEnum

from tidegate.errors import DamagedMetadata
from tidegate.format.cfgs.go_json import decode_json, encode_json

LARGEST_LOCK_FILE = 64 * 1024
# Whose lock is older than this is dead for everybody, Longhorn included.
EXPIRY = timedelta(seconds=150)


class LockType(IntEnum):
    """Two locks stand in each other's way only if their types differ."""

    UNTYPED = 0
    BACKUP_OR_RESTORE = 1
    DELETION = 2


@dataclass(frozen=True)
class LockFile:
    """A lock is pending until its owner has seen that nobody stands in the way."""

    name: str
    type: LockType
    acquired: bool

    def encode(self) -> bytes:
        """The bytes of the file."""
        return encode_json({"Name": self.name, "Type": int(self.type), "Acquired": self.acquired})

    @classmethod
    def decode(cls, body: bytes, *, what: str = "lock") -> "LockFile":
        """What the bytes say; raises DamagedMetadata."""
        fields = decode_json(body, what=what)
        number = fields.number("Type")
        if number not in set(LockType):
            raise DamagedMetadata(f"{what}: nobody knows the lock type {number}")
        return cls(name=fields.text("Name"), type=LockType(number), acquired=fields.flag("Acquired"))
