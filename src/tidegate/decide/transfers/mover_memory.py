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
# What the client of a far store keeps for an answer is twice its body: twelve leave a mover below 150 MiB.
_MOST_FETCHING = 12
_MOST_READERS = 4
_MOST_AHEAD = 8
# Of blocks that are fetched to be compared with their names together.
_MOST_FETCHED = 48 * MIB
# Of an upload: enough are read while others are packed that these find as many as they name at once.
_BLOCKS_READ = 8
# A body, and what the store's client makes of it.
_BLOCKS_PER_SENDER = 2
# Blocks and bodies together, of 2 MiB: more gains nothing, and so many leave a mover below 150 MiB. What an upload must
# know of each block of a large volume comes out of the same.
_MOST_IN_HAND = 44
_FEWEST_IN_HAND = 12
_KNOWN_PER_BLOCK = 80
# More of them than processors only take turns, and each has several blocks in hand.
_MOST_PACKERS = 2
# What a process that makes files writes to of the memory that it shares with the mover at first, and two blocks for it.
_PER_MAKER = 16 * MIB
_BLOCKS_PER_MAKER = 2
# One more gained nothing on two cores, and then the one thread that reads the manifest is the limit.
_MOST_MAKERS = 2


@dataclass(frozen=True)
class DownloadHands:
    """How many threads may each have a block in hand; or else, how many blocks are read ahead, and by how many.

    Beside the threads so many processes may make files, and each thread may fetch several blocks at once.
    """

    threads: int
    readers: int
    ahead: int
    makers: int = 0
    fetched_at_once: int = 1


@dataclass(frozen=True)
class UploadHands:
    """Who works on an upload, and how many blocks may exist as they were read, waiting or in somebody's hands.

    Each sender has one block more, as it is stored.
    """

    readers: int
    blocks: int
    packers: int
    named_at_once: int
    senders: int


def least_memory(block_size: int, volume_size: int) -> int:
    """Bytes without which no block of such a volume can be moved, in whole MiB."""
    needed = _beside(block_size, volume_size) + _per_thread(block_size)
    return -(-needed // MIB) * MIB


def download_hands(
    memory: int | None, *, block_size: int, volume_size: int, wanted: int, checked_at_once: int
) -> DownloadHands:
    """What fits into `memory`, never more than the `wanted` threads. Raises Refused, naming the least that would do."""
    given = _given(memory, block_size, volume_size)
    affordable = (given - _beside(block_size, volume_size)) // _per_thread(block_size)
    threads = max(1, min(wanted, affordable, _MOST_FETCHING))
    readers = min(_MOST_READERS, threads)
    # Each reader has what a thread has, but for the block that it is about to hand over.
    ahead = min(_MOST_AHEAD, affordable * _BLOCKS_PER_THREAD - readers * (_BLOCKS_PER_THREAD - 1))
    left = given - _beside(block_size, volume_size) - threads * _per_thread(block_size)
    per_maker = _PER_MAKER + _BLOCKS_PER_MAKER * block_size
    makers = max(0, min(_MOST_MAKERS, left // per_maker))
    left -= makers * per_maker
    fits = min(checked_at_once, 1 + min(left, _MOST_FETCHED) // (threads * block_size))
    # A few cost as much as many, so that one by one is quicker: `checksums` would do no other.
    return DownloadHands(threads, readers, ahead, makers, fits if 2 * fits > checked_at_once else 1)


def upload_hands(
    memory: int | None, *, block_size: int, volume_size: int, in_flight: int, named_at_once: int
) -> UploadHands:
    """What fits into `memory`, never more than `in_flight` senders. Raises Refused, naming the least that would do."""
    left = _given(memory, block_size, volume_size) - _beside(block_size, volume_size)
    known = volume_size // block_size * _KNOWN_PER_BLOCK
    in_hand = max(_FEWEST_IN_HAND, _MOST_IN_HAND - known // block_size)
    in_flight = min(in_flight, in_hand // 2 + 2)
    wanted = min(_BLOCKS_READ + _MOST_PACKERS * named_at_once, in_hand - in_flight)
    # A quarter of what is left: with little memory there must be enough for what becomes of them.
    blocks = max(1, min(wanted, left // 4 // block_size))
    packers = min(_MOST_PACKERS, blocks)
    left -= (blocks + packers) * block_size
    senders = max(1, min(in_flight, left // (_BLOCKS_PER_SENDER * block_size + _BESIDE_PER_THREAD)))
    # Not all for one packer: the others would stand idle.
    return UploadHands(min(_MOST_READERS, blocks), blocks, packers, min(named_at_once, -(-blocks // packers)), senders)


def _given(memory: int | None, block_size: int, volume_size: int) -> int:
    least = least_memory(block_size, volume_size)
    if memory is None:
        return max(DEFAULT_MEMORY, least)  # nobody set a limit: it is only how far we go by ourselves
    if memory < least:
        raise Refused(
            f"a memory limit of {memory // MIB} MiB is too small for this volume with blocks of {block_size // MIB} "
            f"MiB; the least is {least // MIB} MiB"
        )
    return memory


def _per_thread(block_size: int) -> int:
    return _BLOCKS_PER_THREAD * block_size + _BESIDE_PER_THREAD


def _beside(block_size: int, volume_size: int) -> int:
    return _PROCESS + block_size + volume_size // block_size * _PER_LISTED_BLOCK
