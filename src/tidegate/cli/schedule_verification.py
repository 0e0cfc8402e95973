"""Options for the verification of a schedule's backups, as creating and updating a schedule share them."""

from dataclasses import dataclass
from typing import Annotated

import typer

from tidegate.cli.failures import wrong_usage
from tidegate.cli.verify import check_wish
from tidegate.cli.wire import Wire


@dataclass(frozen=True)
class VerificationWishes:
    """When the newest backup is proven to restore."""

    verify_schedule: Annotated[
        str | None,
        typer.Option(
            metavar="CRON", help="When its newest backup is proven to restore; '': never.", show_default=False
        ),
    ] = None
    verify_check: Annotated[
        str | None,
        typer.Option(metavar="COMMAND", help="A program in hooks/ that looks at what came back.", show_default=False),
    ] = None

    def spec(self) -> Wire:
        """Only what was given, for the top of a schedule's spec; '' takes it back."""
        if self.verify_schedule is None:
            if self.verify_check:
                raise wrong_usage("--verify-check says nothing of when.", hint="Give --verify-schedule too.")
            return {}
        if not self.verify_schedule:
            return {"verification": None}
        check = check_wish(self.verify_check or "", "")
        return {"verification": {"schedule": self.verify_schedule, **({"check": check} if check else {})}}
