"""What the transfers of one request say about the request as a whole."""

from collections.abc import Sequence
from dataclasses import dataclass

from tidegate.model.transfer import Transfer, TransferPhase


@dataclass(frozen=True)
class Rollup:
    """Counts over the transfers of one backup or restore."""

    total: int
    done: int
    failed: int
    cancelled: int
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
            return "Completed"
        if self.done:
            return "PartiallyFailed"
        return "Failed" if self.failed else "Canceled"


def roll_up(transfers: Sequence[Transfer]) -> Rollup:
    """Count what is final; the first failure, by name, speaks for the others."""
    by_phase = {phase: [t for t in transfers if t.status.phase is phase] for phase in TransferPhase}
    failed = sorted(by_phase[TransferPhase.FAILED], key=lambda t: t.name)
    first = failed[0] if failed else None
    return Rollup(
        total=len(transfers),
        done=len(by_phase[TransferPhase.COMPLETED]),
        failed=len(failed),
        cancelled=len(by_phase[TransferPhase.CANCELED]),
        warnings=sum(len(t.status.result.warnings) for t in transfers if t.status.result),
        first_failure=f"{_volume(first)}: {first.status.message}" if first else None,
    )


def _volume(transfer: Transfer) -> str:
    return "/".join(filter(None, (transfer.spec.volume_namespace, transfer.spec.volume_name)))
