"""How a command fails: one sentence, what to do next, and an exit code. Never a traceback for what we foresaw."""

import json
from dataclasses import dataclass

from tidegate.cli.exit_codes import EXIT_CODES, ExitCode
from tidegate.cli.output.terminal import printable
from tidegate.errors import TidegateError


class CommandFailure(Exception):
    """The command itself failed: it was used wrongly, or it gave up waiting. The server knows nothing of it."""

    def __init__(self, message: str, *, code: str, exit_code: ExitCode, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.exit_code = exit_code
        self.hint = hint


def wrong_usage(message: str, *, hint: str = "") -> CommandFailure:
    """Used wrongly in a way that the parser cannot see."""
    return CommandFailure(message, code="WrongUsage", exit_code=ExitCode.WRONG_USAGE, hint=hint)


def waited_too_long(message: str, *, hint: str = "") -> CommandFailure:
    """The time that `--timeout` gave is over; the job goes on."""
    return CommandFailure(message, code="WaitedTooLong", exit_code=ExitCode.WAITED_TOO_LONG, hint=hint)


@dataclass(frozen=True)
class Failure:
    """What a person and a script are told."""

    code: str
    message: str
    hint: str
    exit_code: ExitCode

    def as_json(self) -> str:
        """One object on one line."""
        told = {"code": self.code, "message": self.message, "hint": self.hint, "exitCode": int(self.exit_code)}
        return json.dumps(told, ensure_ascii=False)

    def as_text(self) -> str:
        """`Error: ...`, and `Hint: ...` where there is one."""
        # The sentence may quote a file name or what a server sent.
        return f"Error: {printable(self.message)}" + (f"\nHint: {printable(self.hint)}" if self.hint else "")


def failure_of(error: Exception) -> Failure:
    """What to tell about an error; one that nobody foresaw is told as the bug that it is."""
    if isinstance(error, TidegateError):
        return Failure(error.code, error.message, error.hint, EXIT_CODES[type(error)])
    if isinstance(error, CommandFailure):
        return Failure(error.code, error.message, error.hint, error.exit_code)
    return Failure(
        "InternalError",
        f"{type(error).__name__}: {error}. This is a bug in Tidegate.",
        "Run the command again with TIDEGATE_DEBUG=1 and report what it prints.",
        ExitCode.FAILED,
    )
