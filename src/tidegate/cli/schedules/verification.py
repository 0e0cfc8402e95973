"""Options for the verification of a schedule's backups, as creating and updating a schedule share them."""

from dataclasses import dataclass
from typing import Annotated

import typer

from tidegate.cli.failures import wrong_usage
from tidegate.cli.http.wire import Wire
from tidegate.cli.verification.verify import check_wish


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
    verify_check_timeout: Annotated[
        str | None,
        typer.Option(metavar="DURATION", help="How long that program may run, such as 10m.", show_default=False),
    ] = None

    @property
    def given(self) -> bool:
        """Whether anything shall change."""
        return any(wish is not None for wish in vars(self).values())

    def after(self, stored: Wire | None) -> Wire | None:
        """The verification as it shall be: what was given changes, the rest stays; '' takes it back, None is none."""
        check = self._check_after((stored or {}).get("check"))
        if self.verify_schedule == "":
            return None
        when = self.verify_schedule or (stored or {}).get("schedule")
        if when is None:
            if self.given:
                raise wrong_usage("--verify-check says nothing of when.", hint="Give --verify-schedule too.")
            return None
        return {"schedule": when, **({"check": check} if check else {})}

    def _check_after(self, stored: Wire | None) -> Wire | None:
        check = dict(stored or {})
        if self.verify_check is not None:
            wish = check_wish(self.verify_check, "")
            check = {**check, **wish} if wish else {}
        if self.verify_check_timeout and not check:
            raise wrong_usage("--verify-check-timeout is about a check, and there is none.", hint="Give one too.")
        if self.verify_check_timeout is not None:
            check["timeout"] = self.verify_check_timeout
        return {key: value for key, value in check.items() if value} or None
