"""The blocks of one upload on their way into the store.

Three crews stand in line, because each waits for something else: readers for the volume's disk, packers for a
processor, senders for the store. So a few packers keep the processors busy while many requests are under way, and
blocks are named several at a time, which a processor with wide registers does for little more than the price of one.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tidegate.datapath.progress import Progress
from tidegate.datapath.stored_volume import StoredVolume
from tidegate.datapath.uploads.assembly_line import Belt, Crew, Row, work_in_line
from tidegate.decide.transfers.mover_memory import UploadHands
from tidegate.format.blocks.block_map import BlockMap
from tidegate.format.blocks.checksum_set import ChecksumSet
from tidegate.format.cfgs.backup_cfg import BackupCfg, BlockRef
from tidegate.ports.volume_data import VolumeSource


@dataclass(frozen=True)
class Block:
    """As it was read."""

    offset: int
    content: bytes


@dataclass(frozen=True)
class Parcel:
    """A block as it is stored."""

    name: str
    body: bytes
    absent: bool
    """Nothing is stored under that name. Else it replaces what is there, which may be an empty object: no block, but
    what a writer that died or a store that lost it leaves behind (longhorn#12713)."""


@dataclass(frozen=True)
class Destination:
    """Where the blocks go: into a backup of a volume in which these ones are `known` already."""

    volume: StoredVolume
    cfg: BackupCfg
    block_size: int
    known: ChecksumSet
    full: bool
    """Known ones are sent too."""


class MovedBlocks:
    """What the crews have done so far; they share it. `checkpoint` raises when the work must stop."""

    def __init__(self, destination: Destination, *, progress: Progress, checkpoint: Callable[[], None]) -> None:
        self._to = destination
        self._progress = progress
        self._checkpoint = checkpoint
        self._zeros = bytes(destination.block_size)
        self._sent = ChecksumSet()
        self._lock = threading.Lock()
        self.blocks = BlockMap.empty()
        self.new_blocks = 0
        self.new_bytes = 0
        self.repaired_bytes = 0
        self.took_over = False
        self.read_anything = False

    def knows(self, blocks: Sequence[BlockRef]) -> bool:
        """Whether the store has all of them, none of them empty."""
        return all(self._to.known.number(block.checksum) for block in blocks)

    def take_over(self, blocks: Sequence[BlockRef]) -> None:
        """These need not be read: a finished backup has them, so they are durable too."""
        for block in blocks:
            self.blocks.append(block)
        self.took_over = bool(blocks)

    def move(self, source: VolumeSource, offsets: Sequence[int], hands: UploadHands) -> None:
        """Bring the blocks at these offsets into the store."""
        row, blocks, parcels = Row(offsets), Belt[Block](hands.blocks), Belt[Parcel](hands.senders)
        # A volume of one block needs one thread of each.
        readers, packers, senders = (min(n, len(offsets)) for n in (hands.readers, hands.packers, hands.senders))
        work_in_line(
            Crew(readers, lambda: self._read(source, row, blocks), takes=row, feeds=blocks),
            Crew(packers, lambda: self._pack(blocks, parcels, hands.named_at_once), takes=blocks, feeds=parcels),
            Crew(senders, lambda: self._send(parcels), takes=parcels),
        )

    def _read(self, source: VolumeSource, row: Row[int], blocks: Belt[Block]) -> None:
        for offset in row:
            blocks.claim()
            self._checkpoint()
            self.read_anything = True
            content = source.read_at(offset, self._to.block_size)
            if content == self._zeros:  # zeros are holes: a restore makes them without being told
                blocks.release()
                self._progress.add(self._to.block_size)
            else:
                blocks.hand_over(Block(offset, content))
            del content  # or it would be held, beyond its place, until the next one is there

    def _pack(self, blocks: Belt[Block], parcels: Belt[Parcel], at_once: int) -> None:
        while taken := blocks.take(at_once):
            names = self._to.volume.block_names([block.content for block in taken])
            for name in reversed(names):
                self._pack_one(name, taken.pop(), parcels)
                blocks.release()

    def _pack_one(self, name: str, block: Block, parcels: Belt[Parcel]) -> None:
        with self._lock:
            stored = self._to.known.number(name)
            # Whoever meets it next need not wait until it is sent: if we fail, all of us do.
            send = (self._to.full or not stored) and self._sent.add(name)
            self.blocks.append(BlockRef(block.offset, name))
        if send:
            parcels.claim()
            body = self._to.volume.block_body(name, block.content, self._to.cfg)
            parcels.hand_over(Parcel(name, body, absent=stored is None))
        else:
            self._progress.add(self._to.block_size)

    def _send(self, parcels: Belt[Parcel]) -> None:
        while taken := parcels.take(1):
            self._checkpoint()
            self._send_one(taken.pop())
            parcels.release()
            self._progress.add(self._to.block_size)

    def _send_one(self, parcel: Parcel) -> None:
        volume, size = self._to.volume, len(parcel.body)
        with self._progress.sending():
            if not parcel.absent:
                volume.repair_block(parcel.name, parcel.body)
            elif not volume.put_block(parcel.name, parcel.body):
                return  # somebody else has just brought it
        with self._lock:
            if parcel.absent:
                self.new_blocks += 1
                self.new_bytes += size
            else:
                self.repaired_bytes += size
