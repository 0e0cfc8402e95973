"""How far transfers and whole jobs are, in words."""

from tidegate.model.backups.byte_progress import ByteProgress
from tidegate.views.quantities import counted, human_duration
from tidegate.views.reader import Reader


def progress_text(progress: ByteProgress, reader: Reader) -> str:
    """`1.2 GiB of 3.0 GiB (40 %)`; only what is known, and that something is not known."""
    if progress.total is None:
        return reader.size(progress.done) if progress.done else ""
    if progress.unmeasured:
        unmeasured = f"{counted(progress.unmeasured, 'volume')} not measured yet"
        known = f"{reader.size(progress.done)} of at least {reader.size(progress.total)}, " if progress.total else ""
        return known + unmeasured
    text = f"{reader.size(progress.done)} of {reader.size(progress.total)}"
    return text if progress.percent is None else f"{text} ({progress.percent} %)"


def speed_text(progress: ByteProgress, reader: Reader) -> str:
    """`110 MiB/s, 18s left`; empty while nothing moves, and without a time that would be a guess."""
    if progress.rate is None:
        return ""
    left = "" if progress.left is None else f", {human_duration(progress.left)} left"
    return f"{reader.rate(progress.rate)}{left}"
