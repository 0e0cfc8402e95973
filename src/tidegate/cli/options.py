"""Options that many verbs share, so that they are spelt and explained the same everywhere."""

from datetime import timedelta
from typing import Annotated, Any

import typer

from tidegate.cli.completion import names_of
from tidegate.cli.context import CliContext
from tidegate.cli.exit_codes import ExitCode
from tidegate.cli.failures import wrong_usage
from tidegate.cli.http.nouns import NAMESPACE, Noun
from tidegate.cli.output.formats import OutputFormat


def _remember_output(ctx: typer.Context, value: OutputFormat | None) -> OutputFormat | None:
    """Errors before the verb begins follow -o too."""
    found = ctx.find_object(CliContext)
    if found is not None and value is not None:
        found.output = OutputFormat(value)
    return value


Output = Annotated[
    OutputFormat | None,
    typer.Option("-o", "--output", help="Form of the data on stdout.", callback=_remember_output, show_default=False),
]
Watch = Annotated[bool, typer.Option("-w", "--watch", help="After the list, a row for every change.")]
ExactBytes = Annotated[bool, typer.Option("--bytes", help="Sizes as exact numbers of bytes.")]
Selector = Annotated[
    str,
    typer.Option("-l", "--selector", metavar="SELECTOR", help="Only those with these labels: app=shop,tier!=cache."),
]
Labels = Annotated[
    list[str] | None,
    typer.Option("-l", "--labels", metavar="KEY=VALUE", help="Labels for the new object; commas or repeated."),
]
InNamespace = Annotated[
    str, typer.Option("-n", "--namespace", metavar="NAMESPACE", help="Namespace.", autocompletion=names_of(NAMESPACE))
]
AllNamespaces = Annotated[bool, typer.Option("-A", "--all-namespaces", help="In all namespaces, which is the default.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Change nothing; show what would be done.")]
Wait = Annotated[bool, typer.Option("--wait", help="Wait for the end; the exit code tells how it went.")]
Timeout = Annotated[
    str,
    typer.Option("--timeout", metavar="DURATION", help="Wait at most this long, such as 90s or 30m; empty: for ever."),
]
Limit = Annotated[int, typer.Option(min=1, metavar="N", help="Show at most so many.")]
BackupUrl = Annotated[str, typer.Argument(metavar="BACKUP_URL", help="STORE?backup=NAME&volume=NAME, in quotes.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]

_ALWAYS = (ExitCode.DONE, ExitCode.FAILED, ExitCode.WRONG_USAGE)
_SERVER = (ExitCode.STORE_NOT_THERE, ExitCode.CREDENTIALS_REFUSED)


def watch_of(what: str) -> Any:  # noqa: ANN401  # as typer has it
    """Return the option that shows `what` as a whole again after each change."""
    return typer.Option("-w", "--watch", help=f"Go on: {what} again after each change.")


def namespaces_left_out() -> Any:  # noqa: ANN401
    """Return the option that names namespaces which a backup or a restore leaves out."""
    return typer.Option(metavar="NAMES", help="Namespaces or globs to leave out.")


def name_of(noun: Noun, called: str = "") -> Any:  # noqa: ANN401  # as typer has it
    """Return the argument that names one."""
    return typer.Argument(metavar="NAME", help=f"Name of the {called or noun.word}.", autocompletion=names_of(noun))


def only_these(noun: Noun | None = None) -> Any:  # noqa: ANN401
    """Return the argument that names some of a list. Without a noun the shell completes nothing."""
    completion = None if noun is None else names_of(noun)
    return typer.Argument(metavar="NAME", help="Only these; none means all.", autocompletion=completion)


def which(noun: Noun | None = None) -> Any:  # noqa: ANN401
    """Return the argument that names at least one. Without a noun the shell completes nothing."""
    completion = None if noun is None else names_of(noun)
    return typer.Argument(metavar="NAME", help="Which.", autocompletion=completion, show_default=False)


def epilog(*examples: str, codes: tuple[ExitCode, ...] = ()) -> str:
    """The end of a verb's help: examples, then the exit codes it can have."""
    meanings = [f"  {int(code):>3}  {code.meaning}" for code in sorted({*_ALWAYS, *_SERVER, *codes})]
    # A paragraph that begins with a backspace is left as it is.
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in examples), "", "\b", "Exit codes:", *meanings])


def split_commas(values: str) -> list[str]:
    """`a,b` as a list; spaces around are not part of a name."""
    return [part.strip() for part in values.split(",") if part.strip()]


def read_labels(texts: list[str] | None) -> dict[str, str]:
    """`k=v,k2=v2`, given once or several times."""
    labels: dict[str, str] = {}
    for part in split_commas(",".join(texts or [])):
        key, sign, value = part.partition("=")
        if not sign or not key:
            raise wrong_usage(f"{part!r} is not a label.", hint="Write KEY=VALUE, for example app=shop.")
        labels[key] = value
    return labels


def read_timeout(text: str) -> timedelta | None:
    """The time to wait; None for ever."""
    if not text:
        return None
    from tidegate.model.duration import parse_duration

    try:
        return parse_duration(text)
    except ValueError as error:
        raise wrong_usage(f"--timeout: {error}.") from error
