"""Who may use an image file: kept beside its bytes in the cfg's Parameters, because a volume has no such thing."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

_MODE = "tidegate.dev/file-mode"
_OWNER = "tidegate.dev/file-owner"
_OCTAL = re.compile(r"[0-7]{3,4}")
_OWNERS = re.compile(r"([0-9]{1,10}):([0-9]{1,10})")
# Read, write and execute; nothing that a store says may make a file run with somebody else's rights.
_HARMLESS = 0o777
_LARGEST_ID = 2**32 - 1


@dataclass(frozen=True)
class ImageRights:
    """Mode and owner of an image file."""

    mode: int
    user: int
    group: int

    def to_parameters(self) -> dict[str, str]:
        """As written into a cfg."""
        return {_MODE: f"{self.mode & _HARMLESS:04o}", _OWNER: f"{self.user}:{self.group}"}

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, str]) -> "ImageRights | None":
        """As found in a cfg; None if it does not say, as with everything that Longhorn wrote, or says nonsense."""
        mode, owner = _OCTAL.fullmatch(parameters.get(_MODE, "")), _OWNERS.fullmatch(parameters.get(_OWNER, ""))
        if mode is None or owner is None:
            return None
        user, group = int(owner[1]), int(owner[2])
        return cls(int(mode[0], 8) & _HARMLESS, user, group) if max(user, group) <= _LARGEST_ID else None
