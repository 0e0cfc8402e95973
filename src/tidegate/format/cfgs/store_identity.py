"""What a store calls itself: one object beside what Longhorn lists, which Longhorn never looks at.

    backupstore/tidegate-store.json

It travels with the store: what was copied or moved as a whole is the same store at its new place.
"""

import hashlib
import json

from tidegate.format.cfgs.paths import ROOT

STORE_IDENTITY = f"{ROOT}/tidegate-store.json"
LARGEST_IDENTITY = 4096
_LONGEST = 100
_ABOUT = "By this Tidegate knows the store again, and writes to no other. Leave it here."


def encode_identity(identity: str) -> bytes:
    """The object's bytes."""
    return (json.dumps({"about": _ABOUT, "identity": identity}) + "\n").encode()


def decode_identity(body: bytes) -> str:
    """The identity in these bytes. What cannot be understood has one too, always the same: it is another store."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        found = None
    identity = found.get("identity") if isinstance(found, dict) else None
    if isinstance(identity, str) and 0 < len(identity) <= _LONGEST and identity.isascii() and identity.isprintable():
        return identity
    return f"unreadable-{hashlib.sha256(body).hexdigest()[:16]}"
