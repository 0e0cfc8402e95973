"""How much a mover may have in its hands at once, so that it stays within the memory that it was given.

What it needs was measured (docs/store.md): the process itself, a little for every block of the volume, one block of
zeros, and for each thread a block, its stored form, and as much again while one becomes the other and is written.
"""

from dataclasses import dataclass

from tidegate.errors import Refused

MIB = 1024 * 1024
DEFAULT_MEMORY = 512 * MIB
_PROCESS = 44 * MIB
_PER_LISTED_BLOCK = 350
_BLOCKS_PER_THREAD = 4
# Its stack, what the client library keeps for its request, and memory that is free but not given back yet.
_BESIDE_PER_THREAD = MIB
_MOST_READERS = 4
_MOST_AHEAD = 8
# What a process that makes files writes to of the memory that it shares with the mover at first, and two blocks for it.
_PER_MAKER = 16 * MIB
_BLOCKS_PER_MAKER = 2
# One more gained nothing on two cores, and then the one thread that reads the manifest is the limit.
_MOST_MAKERS = 2


@dataclass(frozen=True)
class Allowance:
    """How many threads may each have a block in hand; or else, how many blocks are read ahead, and by how many.

    Beside the threads so many processes may make files.
    """

    threads: int
    readers: int
    ahead: int
    makers: int = 0


def least_memory(block_size: int, volume_size: int) -> int:
    """Bytes without which no block of such a volume can be moved, in whole MiB."""
    needed = _beside(block_size, volume_size) + _per_thread(block_size)
    return -(-needed // MIB) * MIB


def allowance(memory: int | None, *, block_size: int, volume_size: int, wanted: int) -> Allowance:
    """What fits into `memory`, never more than the `wanted` threads. Raises Refused, naming the least that would do."""
    given = DEFAULT_MEMORY if memory is None else memory
    least = least_memory(block_size, volume_size)
    if memory is None:
        given = max(given, least)  # nobody set a limit: it is only how far we go by ourselves
    if given < least:
        raise Refused(
            f"a memory limit of {given // MIB} MiB is too small for this volume with blocks of {block_size // MIB} "
            f"MiB; the least is {least // MIB} MiB"
        )
    affordable = (given - _beside(block_size, volume_size)) // _per_thread(block_size)
    threads = max(1, min(wanted, affordable))
    readers = min(_MOST_READERS, threads)
    # Each reader has what a thread has, but for the block that it is about to hand over.
    ahead = min(_MOST_AHEAD, affordable * _BLOCKS_PER_THREAD - readers * (_BLOCKS_PER_THREAD - 1))
    left = given - _beside(block_size, volume_size) - threads * _per_thread(block_size)
    makers = max(0, min(_MOST_MAKERS, left // (_PER_MAKER + _BLOCKS_PER_MAKER * block_size)))
    return Allowance(threads, readers, ahead, makers)


def _per_thread(block_size: int) -> int:
    return _BLOCKS_PER_THREAD * block_size + _BESIDE_PER_THREAD


def _beside(block_size: int, volume_size: int) -> int:
    return _PROCESS + block_size + volume_size // block_size * _PER_LISTED_BLOCK
