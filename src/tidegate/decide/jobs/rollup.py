"""What the transfers of one request say about the request as a whole."""

from collections.abc import Sequence
from dataclasses import dataclass

from tidegate.model.transfers.transfer import Transfer, TransferPhase

# So many paths are named in one sentence; the transfer's warnings name the others.
_NAMED = 5


@dataclass(frozen=True)
class Rollup:
    """Counts over the transfers of one backup or restore."""

    total: int
    done: int
    failed: int
    cancelled: int
    incomplete: int
    """Of those that are done: how many had to leave something out that could not be read."""
    warnings: int
    first_failure: str | None

    @property
    def finished(self) -> bool:
        """Whether nothing is left to wait for."""
        return self.done + self.failed + self.cancelled == self.total

    @property
    def outcome(self) -> str:
        """Completed, PartiallyFailed, Failed or Canceled: the words of both requests' phases."""
        if self.failed == 0 and self.cancelled == 0:
            return "PartiallyFailed" if self.incomplete else "Completed"
        if self.done:
            return "PartiallyFailed"
        return "Failed" if self.failed else "Canceled"


def roll_up(transfers: Sequence[Transfer]) -> Rollup:
    """Count what is final; the first failure, by name, speaks for the others, and failing that, the first gap."""
    by_phase = {phase: [t for t in transfers if t.status.phase is phase] for phase in TransferPhase}
    failed = sorted(by_phase[TransferPhase.FAILED], key=lambda t: t.name)
    incomplete = sorted((t for t in by_phase[TransferPhase.COMPLETED] if left_out(t)), key=lambda t: t.name)
    problems = [(t, t.status.message) for t in failed] or [(t, left_out(t)) for t in incomplete]
    return Rollup(
        total=len(transfers),
        done=len(by_phase[TransferPhase.COMPLETED]),
        failed=len(failed),
        cancelled=len(by_phase[TransferPhase.CANCELED]),
        incomplete=len(incomplete),
        warnings=sum(len(t.status.result.warnings) for t in transfers if t.status.result),
        first_failure=next((f"{_volume(one)}: {message}" for one, message in problems), None),
    )


def left_out(transfer: Transfer) -> str:
    """A sentence that names what could not be read and so is not in the backup; empty if nothing was left out."""
    paths = transfer.status.result.left_out if transfer.status.result else ()
    if not paths:
        return ""
    more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
    return f"could not be read and is not in the backup: {', '.join(paths[:_NAMED])}{more}"


def _volume(transfer: Transfer) -> str:
    return "/".join(filter(None, (transfer.spec.volume_namespace, transfer.spec.volume_name)))
