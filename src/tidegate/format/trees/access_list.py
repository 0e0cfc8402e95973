"""POSIX access lists, as Linux keeps them in an extended attribute."""

import struct

ACCESS_LIST = "system.posix_acl_access"
_VERSION = 2
_HEADER, _ENTRY = struct.Struct("<I"), struct.Struct("<HHI")
_GROUP, _MASK = 0x04, 0x10
_GROUP_BITS = 0o070


def mode_without(access_list: bytes, mode: int) -> int:
    """The mode of a file that is to do without its access list: what it shows for the group is the list's mask.

    Kept like that, it would give the file's group whatever some other user was given. A list that cannot be understood
    gives the group nothing.
    """
    return mode & ~_GROUP_BITS | _rights_of_group(access_list) << 3


def _rights_of_group(access_list: bytes) -> int:
    if len(access_list) < _HEADER.size or _HEADER.unpack_from(access_list)[0] != _VERSION:
        return 0
    entries = access_list[_HEADER.size :]
    whole = entries[: len(entries) // _ENTRY.size * _ENTRY.size]
    rights: dict[int, int] = {tag: rights for tag, rights, _ in _ENTRY.iter_unpack(whole)}
    return rights.get(_GROUP, 0) & rights.get(_MASK, 0o7) & 0o7
