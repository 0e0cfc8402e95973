"""Where the encryption key comes from: a target's credentials, this process's environment, or a file that either names.

A mover is told in its job, on standard input, and finds nothing of it in its own environment.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from tidegate.errors import InvalidInput
from tidegate.format.blocks.encryption_key import KEY, KEY_FILE, EncryptionKey, key_in
from tidegate.model.transfers.mover_job import TargetAccess

_NAMES = (KEY, KEY_FILE)
_LARGEST_KEY_FILE = 4096


def with_key_of_machine(access: TargetAccess, environment: Mapping[str, str] = os.environ) -> TargetAccess:
    """The access with what the environment says about a key, unless the target itself says something."""
    if any(access.credentials.get(name) for name in _NAMES):
        return access
    told = {name: environment[name] for name in _NAMES if environment.get(name)}
    return access.replace(credentials={**access.credentials, **told}) if told else access


def without_key(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The environment for a child that must not find a key there."""
    return {name: value for name, value in environment.items() if name not in _NAMES}


def find_key(credentials: Mapping[str, str]) -> EncryptionKey | None:
    """The key, read from its file if they name one; raises InvalidInput rather than go on without a key meant."""
    path = credentials.get(KEY_FILE)
    return key_in({KEY: _read(path)} if path and not credentials.get(KEY) else credentials)


def key_for(access: TargetAccess) -> EncryptionKey | None:
    """The key for a target, as its movers are told it; raises as `find_key`. Reads a file: not for the event loop."""
    return find_key(with_key_of_machine(access).credentials)


def _read(path: str) -> str:
    try:
        with Path(path).open("rb") as file:
            return file.read(_LARGEST_KEY_FILE).decode("ascii", "replace")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it cannot be a path"
        raise InvalidInput(f"the encryption key in {path} could not be read: {reason}", field=KEY_FILE) from error
