"""Moments as people type them."""

from tidegate.cli.context import CliContext
from tidegate.cli.failures import wrong_usage


def read_moment(cli: CliContext, text: str, option: str) -> str:
    """A date, a time, or how long ago, as the server reads it; empty if none was given."""
    from datetime import datetime

    from tidegate.model.duration import parse_duration

    if not text:
        return ""
    try:
        if text[-1] in "smhd":
            return (cli.clock.now() - parse_duration(text)).isoformat()
        return datetime.fromisoformat(text).astimezone().isoformat()
    except (ValueError, OverflowError):
        raise wrong_usage(
            f"{option}: {text!r} is not a time.", hint="Write 2026-01-31, 2026-01-31T12:00, or 36h."
        ) from None


def read_coming_moment(cli: CliContext, text: str, option: str) -> str:
    """A date, a time, or how long from now; empty if none was given."""
    from tidegate.model.duration import parse_duration

    if not text or text[-1] not in "smhd":
        return read_moment(cli, text, option)
    try:
        return (cli.clock.now() + parse_duration(text)).isoformat()
    except (ValueError, OverflowError):
        raise wrong_usage(f"{option}: {text!r} is not a time.", hint="Write 90d, or 2026-12-31.") from None
