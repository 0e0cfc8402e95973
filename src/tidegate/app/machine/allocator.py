"""How the process treats memory that it has used.

Blocks of some megabytes come and go in several threads. The C library would give each one back to the system at once
and ask for it again, page by page: a fifth of the time of a restore.
"""

import ctypes

_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3
_M_ARENA_MAX = -8
# All threads share what is kept; with more than one, each of them would keep the most that it ever used.
_ARENAS = 1
_KEPT_PER_ARENA = 32 * 1024 * 1024
_LARGEST_KEPT = 16 * 1024 * 1024


def keep_used_memory() -> None:
    """Let a block have the memory that an earlier one had. Only a wish: not every C library can be told."""
    tune = getattr(ctypes.CDLL(None), "mallopt", None)
    if tune is not None:
        tune(_M_ARENA_MAX, _ARENAS)
        tune(_M_TRIM_THRESHOLD, _KEPT_PER_ARENA)
        tune(_M_MMAP_THRESHOLD, _LARGEST_KEPT)
