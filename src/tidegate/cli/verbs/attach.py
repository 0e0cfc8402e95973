"""Verbs that are the same for every noun: `get`, `delete` and `wait`, attached to a noun's group of commands."""

from collections.abc import Callable, Iterable, Sequence
from typing import Annotated

import typer

from tidegate.cli import options
from tidegate.cli.completion import names_of
from tidegate.cli.context import context_of
from tidegate.cli.exit_codes import ExitCode
from tidegate.cli.http.client import Client
from tidegate.cli.http.nouns import Job, Noun
from tidegate.cli.option_groups import with_option_groups
from tidegate.cli.options import epilog, read_timeout
from tidegate.cli.verbs.cancelling import CancelWishes, cancel
from tidegate.cli.verbs.deleting import Deletion, DeletionWishes, delete
from tidegate.cli.verbs.getting import ListWishes, get
from tidegate.cli.verbs.logs import show_log
from tidegate.cli.verbs.waiting import wait_for_each

Dependents = Callable[[Client, list[str]], Iterable[str]]

WAIT_CODES = (ExitCode.PARTLY_MISSING, ExitCode.REJECTED, ExitCode.WAITED_TOO_LONG, ExitCode.INTERRUPTED)


def add_get(app: typer.Typer, noun: Noun, text: str, *, examples: Sequence[str]) -> None:
    """`get`: for nouns without a namespace."""

    @with_option_groups
    def get_them(
        ctx: typer.Context,
        *,
        names: Annotated[
            list[str] | None,
            options.only_these(noun),
        ] = None,
        wishes: ListWishes,
    ) -> None:
        get(context_of(ctx), noun, wishes.query(names))

    codes = (ExitCode.NOT_FOUND, ExitCode.INTERRUPTED)
    app.command("get", help=text, epilog=epilog(*examples, codes=codes))(get_them)


def add_delete(
    app: typer.Typer, noun: Noun, text: str, *, examples: Sequence[str], dependents: Dependents | None = None
) -> None:
    """`delete`: for nouns without a namespace. `dependents` tells, in sentences, whom it would disturb."""

    @with_option_groups
    def delete_them(
        ctx: typer.Context,
        *,
        names: Annotated[
            list[str] | None,
            typer.Argument(metavar="NAME", help="Which; or use --all.", autocompletion=names_of(noun)),
        ] = None,
        every: Annotated[bool, typer.Option("--all", help="All of them, or with -l all that are selected.")] = False,
        wishes: DeletionWishes,
    ) -> None:
        deletion = Deletion(tuple(names or ()), every, wishes)
        if dependents is None:
            delete(context_of(ctx), noun, deletion)
        else:
            delete(context_of(ctx), noun, deletion, dependents=dependents)

    codes = (ExitCode.NOT_FOUND, ExitCode.CONFLICT, ExitCode.WAITED_TOO_LONG)
    app.command("delete", help=text, epilog=epilog(*examples, codes=codes))(delete_them)


def add_cancel(app: typer.Typer, job: Job, text: str, *, examples: tuple[str, ...]) -> None:
    """`cancel`: for nouns that can be called off."""

    @with_option_groups
    def cancel_them(
        ctx: typer.Context,
        *,
        names: Annotated[list[str], options.which(job)],
        wishes: CancelWishes,
    ) -> None:
        cancel(context_of(ctx), job, names, wishes)

    codes = (ExitCode.NOT_FOUND, ExitCode.CONFLICT, ExitCode.WAITED_TOO_LONG, ExitCode.INTERRUPTED)
    app.command("cancel", help=text, epilog=epilog(*examples, codes=codes))(cancel_them)


def add_logs(app: typer.Typer, job: Job) -> None:
    """`logs`: for nouns that run for a while."""

    def tell_logs(
        ctx: typer.Context,
        name: Annotated[str, options.name_of(job)],
        output: options.Output = None,
    ) -> None:
        show_log(context_of(ctx), job, name, output)

    text = f"Tell what happened to a {job.word} and to each of its volumes, oldest first."
    example = f"tidegate {job.word} logs nightly"
    app.command("logs", help=text, epilog=epilog(example, codes=(ExitCode.NOT_FOUND,)))(tell_logs)


def add_wait(app: typer.Typer, job: Job, *, example: str) -> None:
    """`wait`: for nouns that run for a while."""

    def wait_for_it(
        ctx: typer.Context,
        names: Annotated[
            list[str],
            options.which(job),
        ],
        timeout: options.Timeout = "",
        output: options.Output = None,
    ) -> None:
        wait_for_each(context_of(ctx), job, dict.fromkeys(names, ""), timeout=read_timeout(timeout), output=output)

    text = f"Wait for {job.word}s to end. Ctrl-C stops only the waiting. The first that ends badly gives the exit code."
    app.command("wait", help=text, epilog=epilog(example, codes=(ExitCode.NOT_FOUND, *WAIT_CODES)))(wait_for_it)
