"""Holds on to the check commands that this process runs, and to what came of them until it is written down.

Nothing here is state that must survive: a check that ended with its server is run again on what is still restored.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

import structlog

from tidegate.model.resource import Ref
from tidegate.model.verification.verification import CheckStage, Verification
from tidegate.ports.hook_runner import HookRun, HookRunner

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class CheckResult:
    """What came of one check: no problem is good."""

    problem: str | None


@dataclass
class CheckRuns:
    """At most one run for a verification; starting one that runs already changes nothing."""

    runner: HookRunner
    wake: Callable[[Ref], None] = lambda _ref: None
    _running: dict[str, asyncio.Task[None]] = field(default_factory=dict)
    _results: dict[str, CheckResult] = field(default_factory=dict)

    def ensure(self, verification: Verification, volumes: tuple[str, ...]) -> CheckResult | None:
        """Have it run; None as long as it does. The verification is woken at the end."""
        uid, check = verification.metadata.uid, verification.spec.check
        if uid in self._results or uid in self._running or check is None:
            return self._results.get(uid)
        run = HookRun(
            command=check.command,
            timeout=check.timeout,
            stage=CheckStage.VERIFY,
            backup=verification.status.backup_name or "",
            namespace="",
            volumes=volumes,
            place=verification.status.scratch or "",
        )
        self._running[uid] = asyncio.create_task(self._run(uid, run, verification.ref), name=f"check {uid}")
        return None

    async def stop(self, verification: Verification) -> None:
        """End what runs, if something does; nothing touches the scratch place when this returns."""
        task = self._running.pop(verification.metadata.uid, None)
        if task is not None:
            task.cancel()
            await asyncio.wait({task})
        self.forget(verification)

    def forget(self, verification: Verification) -> None:
        """The result has been written down."""
        self._results.pop(verification.metadata.uid, None)

    async def _run(self, uid: str, run: HookRun, on_news: Ref) -> None:
        try:
            problem = await self.runner.run(run)
        except Exception as error:
            # Whatever it was: a verification that never hears of its check would wait for ever.
            log.exception("check could not be run", check=run.command[0])
            problem = f"{type(error).__name__}: {error}"
        self._results[uid] = CheckResult(problem)
        self._running.pop(uid, None)
        self.wake(on_news)
