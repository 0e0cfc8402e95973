"""A path by which something is found again, in little memory."""

import hashlib

_SHORT = 4096


def path_key(path: str) -> str | bytes:
    """The path, or a digest of one that no usual program could name: the paths of a deep tree would fill the memory."""
    return path if len(path) <= _SHORT else hashlib.sha256(path.encode("utf-8", "surrogateescape")).digest()
