"""How far transfers are: bytes done and to do, the rate, what is left."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from tidegate.model.transfer import Transfer, TransferPhase
from tidegate.views.quantities import human_duration, percent, time_left
from tidegate.views.reader import Reader


@dataclass(frozen=True)
class ByteProgress:
    """How far one transfer, or several together, are. `done` never exceeds `total`."""

    done: int = 0
    total: int | None = None
    rate: float | None = None
    """Bytes per second right now; None while nothing moves or nobody measured."""
    stage: str = ""

    @property
    def percent(self) -> int | None:
        """Whole percent, never over 100; None while the whole is not known."""
        return percent(self.done, self.total)

    @property
    def left(self) -> timedelta | None:
        """How long the rest takes at this rate; None where any answer would be a guess."""
        return time_left(self.done, self.total, self.rate)


def transfer_progress(transfer: Transfer) -> ByteProgress:
    """How far one transfer is. What it ended with counts more than what it said on the way."""
    status = transfer.status
    if status.phase is TransferPhase.COMPLETED and status.result is not None:
        return ByteProgress(done=status.result.size, total=status.result.size)
    if status.progress is None:
        return ByteProgress()
    progress = status.progress
    total = progress.total_bytes
    done = max(0, progress.bytes_done)
    moving = status.phase.moving
    return ByteProgress(
        done=done if total is None else min(done, total),
        total=total,
        rate=progress.bytes_per_second if moving else None,
        stage=progress.stage if moving else "",
    )


def summed_progress(transfers: Sequence[Transfer]) -> ByteProgress:
    """All together. One whole that is not known makes the sum of the wholes unknown: a part is not the whole."""
    parts = [transfer_progress(transfer) for transfer in transfers]
    totals = [part.total for part in parts]
    known = [total for total in totals if total is not None]
    rates = [part.rate for part in parts if part.rate is not None]
    return ByteProgress(
        done=sum(part.done for part in parts),
        total=sum(known) if parts and len(known) == len(totals) else None,
        rate=sum(rates) if rates else None,
        stage=", ".join(dict.fromkeys(part.stage for part in parts if part.stage)),
    )


def progress_text(progress: ByteProgress, reader: Reader) -> str:
    """`1.2 GiB of 3.0 GiB (40 %)`; only what is known."""
    if progress.total is None:
        return reader.size(progress.done) if progress.done else ""
    text = f"{reader.size(progress.done)} of {reader.size(progress.total)}"
    return text if progress.percent is None else f"{text} ({progress.percent} %)"


def speed_text(progress: ByteProgress, reader: Reader) -> str:
    """`110 MiB/s, 18s left`; empty while nothing moves."""
    if progress.rate is None:
        return ""
    left = "time left unknown" if progress.left is None else f"{human_duration(progress.left)} left"
    return f"{reader.rate(progress.rate)}, {left}"
