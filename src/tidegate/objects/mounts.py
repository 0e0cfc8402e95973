"""Mounting NFS and CIFS shares below a directory of ours, so that they are directories like any other."""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from tidegate.errors import Refused, StoreUnavailable
from tidegate.model.stores.target_url import MOUNTS
from tidegate.objects.mount_plan import MountPlan, mounted_source

_MOUNT_SECONDS = 30.0
_LOOK_SECONDS = 5.0


class Runner(Protocol):
    """The outside of mounting: which programs there are, who we are, and running one of them."""

    def may_mount(self, helper: str) -> bool:
        """Whether we are root and the helper is installed."""
        ...

    def mountinfo(self) -> str:
        """What is mounted now, as the kernel tells it."""
        ...

    def run(self, words: list[str], *, environment: dict[str, str], seconds: float) -> str | None:
        """Run a program: None if it succeeded, else what it said. One that takes too long is left behind, killed."""
        ...


@dataclass(frozen=True)
class SystemRunner:
    """The Runner of everyone but tests."""

    def may_mount(self, helper: str) -> bool:
        """See Runner."""
        return os.geteuid() == 0 and shutil.which(helper) is not None

    def mountinfo(self) -> str:
        """See Runner."""
        return Path("/proc/self/mountinfo").read_text()

    def run(self, words: list[str], *, environment: dict[str, str], seconds: float) -> str | None:
        """See Runner."""
        process = subprocess.Popen(  # noqa: S603  # words are a list that no shell reads
            words,
            env={"PATH": os.environ.get("PATH", ""), **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        try:
            _, said = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            # Not waited for: a process that hangs in a dead share may not die before the share comes back.
            process.kill()
            return f"no answer within {seconds:.0f} seconds"
        return None if process.returncode == 0 else said.decode(errors="replace").strip()[-200:] or "it failed"


def mounted(plan: MountPlan, runner: Runner, *, root: Path = Path(MOUNTS)) -> str:
    """The directory where the share is mounted, now or already.

    Raises Refused with how to help oneself if we cannot mount, StoreUnavailable if the share does not answer.
    """
    folder = str(root / plan.folder)
    there = mounted_source(runner.mountinfo(), folder)
    if there == plan.source and _answers(folder, runner):
        return folder
    if not runner.may_mount(plan.helper):
        kind = plan.helper.removeprefix("mount.")
        raise Refused(
            f"{plan.source} cannot be mounted here: that needs root and {plan.helper}",
            hint=f"mount it yourself (mount -t {kind} {plan.source} /mnt/backups) and use file:///mnt/backups",
        )
    if there is not None:
        # Stale, or another share: lazily, because what hangs cannot be unmounted otherwise.
        runner.run(["umount", "-l", "-f", folder], environment={}, seconds=_LOOK_SECONDS)
    _mount(plan, folder, runner)
    return folder


def _mount(plan: MountPlan, folder: str, runner: Runner) -> None:
    Path(folder).mkdir(parents=True, exist_ok=True, mode=0o700)
    said: str | None = ""
    for options in plan.attempts:
        words = [plan.helper, plan.source, folder, "-o", options]
        said = runner.run(words, environment=plan.environment, seconds=_MOUNT_SECONDS)
        if said is None:
            return
    raise StoreUnavailable(f"could not mount {plan.source}: {said}")


def _answers(folder: str, runner: Runner) -> bool:
    """Asked through a process that can be left behind: a look at a dead share may never return."""
    return runner.run(["stat", "-f", "-t", folder], environment={}, seconds=_LOOK_SECONDS) is None
