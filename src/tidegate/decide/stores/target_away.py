"""Whether the store of a target can be worked with now, in the words that whoever waits for it is told."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from tidegate.errors import RetryableError
from tidegate.model.reasons import Reason
from tidegate.model.stores.target import BackupTarget

AVAILABLE = "Available"
_OTHER_STORE = (Reason.STORE_IDENTITY_MISSING, Reason.STORE_IDENTITY_CHANGED)


class Away(NamedTuple):
    """Why nothing can be done with it."""

    reason: Reason
    message: str


def away(target: BackupTarget) -> Away | None:
    """None if it can be worked with. A target that nobody looked at yet is not held against anybody."""
    status, name = target.status, target.name
    if status.available is None or (status.available and target.identified):
        return None
    if status.available:
        return Away(Reason.TARGET_UNAVAILABLE, f"which store target {name} leads to is not known yet")
    looked = status.condition(AVAILABLE)
    for reason in _OTHER_STORE:
        if looked is not None and looked.reason == reason:
            return Away(reason, f"target {name} is not the store that it was: {status.message}")
    return no_answer(name)


def no_answer(name: str) -> Away:
    """What is said of one that is down."""
    return Away(Reason.TARGET_UNAVAILABLE, f"target {name} does not answer")


def why_wait(error: RetryableError) -> Reason:
    """In one word, for whoever met this error when it worked with a store."""
    return next((reason for reason in _OTHER_STORE if reason == error.code), Reason.TARGET_UNAVAILABLE)


def all_away(targets: Iterable[BackupTarget]) -> Mapping[str, Away]:
    """Those that cannot be worked with, by name."""
    return {target.name: why for target in targets if (why := away(target)) is not None}
