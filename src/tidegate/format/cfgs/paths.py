"""Where things are in a store: keys from names, and names back out of listings.

    backupstore/volumes/<h0h1>/<h2h3>/<volume>/volume.cfg
                                              /backups/backup_<backup>.cfg
                                              /blocks/<c0c1>/<c2c3>/<checksum>.blk
                                              /locks/lock-<16 hex>.lck

A name is checked before it becomes part of a key, so nothing that a store, a URL or a person says can lead out of the
volume's own directory.
"""

import re

from tidegate.errors import InvalidInput
from tidegate.format.blocks.checksum import checksum, is_checksum

ROOT = "backupstore"
VOLUMES = f"{ROOT}/volumes"
# Not a volume: where Longhorn keeps its locks for backing images.
LOCKS_OF_IMAGES = "BACKINGIMAGE"
# Longhorn's engine takes no longer volume names.
LONGEST_VOLUME_NAME = 64
# So that `backup_<name>.cfg` and the temporary name beside it still fit into a file name.
LONGEST_NAME = 200
_NAME = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9_.-]+")
_BACKUP_FILE = re.compile(rf"backup_({_NAME.pattern})\.cfg")
_BLOCK_FILE = re.compile(r"([0-9a-f]{64})\.blk")
_LOCK_FILE = re.compile(r"(lock-[0-9a-zA-Z-]+)\.lck")
# Writers of directory stores leave these behind when they die: `<name>.tmp.<something>`.
_TEMPORARY = ".tmp."
_HASH_DIGITS = 16


def is_name(text: str) -> bool:
    """Whether Longhorn would take this as the name of a volume or a backup."""
    return len(text) <= LONGEST_NAME and _TEMPORARY not in text and _NAME.fullmatch(text) is not None


def check_name(text: str, *, what: str) -> str:
    """The name itself; raises InvalidInput if it cannot be one."""
    if not is_name(text):
        raise InvalidInput(
            f"{text[:LONGEST_NAME]!r} is not the name of a {what} in a store: "
            "use letters, digits, '_', '.' and '-', begin with a letter or digit, at least two characters"
        )
    return text


def store_volume_name(namespace: str, name: str) -> str:
    """What a volume is called in the store. Two volumes never share a name; long ones end in a hash of the whole."""
    whole = f"{namespace}.{name}"
    if len(whole) <= LONGEST_VOLUME_NAME:
        return whole
    return f"{whole[: LONGEST_VOLUME_NAME - _HASH_DIGITS - 1]}-{checksum(whole.encode())[:_HASH_DIGITS]}"


def store_backup_name(seed: str) -> str:
    """A backup's name in the store, always the same for the same seed, so that doing it twice is harmless."""
    return f"backup-{checksum(seed.encode())[:_HASH_DIGITS]}"


def volume_dir(volume: str) -> str:
    """The directory of everything that the store holds of a volume."""
    spread = checksum(check_name(volume, what="volume").encode())
    return f"{VOLUMES}/{spread[:2]}/{spread[2:4]}/{volume}"


def volume_cfg_key(volume: str) -> str:
    """The record of the volume itself."""
    return f"{volume_dir(volume)}/volume.cfg"


def backups_dir(volume: str) -> str:
    """Where the volume's backup cfgs are."""
    return f"{volume_dir(volume)}/backups"


def backup_cfg_key(volume: str, backup: str) -> str:
    """The record of one backup: its presence, with a CreatedTime, is the backup."""
    return f"{backups_dir(volume)}/backup_{check_name(backup, what='backup')}.cfg"


def blocks_dir(volume: str) -> str:
    """Where the volume's blocks are."""
    return f"{volume_dir(volume)}/blocks"


def block_key(volume: str, block_checksum: str) -> str:
    """Where the block with this checksum is."""
    if not is_checksum(block_checksum):
        raise InvalidInput(f"{block_checksum[:LONGEST_NAME]!r} is not a block's checksum")
    return f"{blocks_dir(volume)}/{block_checksum[:2]}/{block_checksum[2:4]}/{block_checksum}.blk"


def locks_dir(volume: str) -> str:
    """Where clients that work on the volume say so."""
    return f"{volume_dir(volume)}/locks"


def lock_key(volume: str, lock: str) -> str:
    """One client's lock."""
    return f"{locks_dir(volume)}/{check_name(lock, what='lock')}.lck"


def backup_name_of(key: str) -> str | None:
    """The backup that a listed key is the cfg of; None for anything else that lies there."""
    found = _BACKUP_FILE.fullmatch(_last(key))
    if found is None or len(found[1]) > LONGEST_NAME or _TEMPORARY in found[1]:
        return None
    return found[1]


def block_checksum_of(key: str) -> str | None:
    """The checksum that a listed key is the block of; None for anything else that lies there."""
    found = _BLOCK_FILE.fullmatch(_last(key))
    return found[1] if found else None


def lock_name_of(key: str) -> str | None:
    """The lock that a listed key is; None for anything else that lies there."""
    found = _LOCK_FILE.fullmatch(_last(key))
    return found[1] if found else None


def volume_name_of(prefix: str) -> str | None:
    """The volume whose directory a listed prefix is; None if the name is wrong or hashes to another place."""
    name = _last(prefix)
    return name if is_name(name) and volume_dir(name) == prefix else None


def _last(key: str) -> str:
    return key.rpartition("/")[2]
