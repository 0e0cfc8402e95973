"""What tokens and users have in common on the command line."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from tidegate.cli.context import CliContext
from tidegate.cli.failures import wrong_usage
from tidegate.cli.http.nouns import Noun
from tidegate.cli.output.asking import ask_whether_to
from tidegate.cli.output.formats import OutputFormat
from tidegate.cli.output.listings import show_listing
from tidegate.errors import NotFound

if TYPE_CHECKING:
    from tidegate.model.frozen import Model
    from tidegate.views.table import TableView

M = TypeVar("M", bound="Model")
# Not the enum itself: models are slow to load, and help must not be.
ROLES = ("viewer", "operator", "admin")
_LARGEST_FILE = 10_000


def check_role(text: str) -> str:
    """One of the roles."""
    if text not in ROLES:
        raise typer.BadParameter(f"{text!r} is not one of {', '.join(ROLES)}")
    return text


Role = Annotated[str, typer.Option(metavar="ROLE", help=f"One of {', '.join(ROLES)}.", callback=check_role)]
PasswordFile = Annotated[
    str, typer.Option(metavar="FILE", help="File with the password; - is standard input. Without it you are asked.")
]


def show_accounts(
    cli: CliContext, noun: Noun, view: "TableView[M]", names: Sequence[str], form: OutputFormat | None
) -> None:
    """All of them, or those that are named."""
    with cli.connect() as client:
        found = {str(wire["name"]): wire for wire in client.look(noun.plural)["data"]}
    for name in names:
        if name not in found:
            raise NotFound(f"There is no {noun.word} {name}.")
    chosen = [found[name] for name in (names or sorted(found))]
    show_listing(
        cli,
        iter(chosen),
        form or OutputFormat.TABLE,
        view=view,
        name=lambda wire: f"{noun.word}/{wire['name']}",
        nothing=f"No {noun.word}s found.",
    )


def remove_accounts(cli: CliContext, noun: Noun, names: Sequence[str], *, verb: str, done: str, yes: bool) -> None:
    """Ask once, then remove each."""
    if not yes:
        ask_whether_to(cli, verb, noun, names, done=done)
    with cli.connect() as client:
        for name in dict.fromkeys(names):
            client.change("DELETE", noun.plural, name)
            cli.terminal.note(f"{done.capitalize()} {noun.word} {name}; its sessions are over.")
            cli.terminal.out(f"{noun.word}/{name}")


def read_password(cli: CliContext, file: str, *, prompt: str = "Password", twice: bool = True) -> str:
    """From a file, standard input, or a person who types it twice. Never an argument: others can see those."""
    if not file:
        if not cli.terminal.asks:
            raise wrong_usage(
                "Nobody is here to type a password.", hint="Give it with --password-file FILE, or - for standard input."
            )
        return str(typer.prompt(prompt, hide_input=True, confirmation_prompt=twice, err=True))
    try:
        if file == "-":
            return sys.stdin.read(_LARGEST_FILE).rstrip("\r\n")
        with cli.environment.absolute(file).open() as opened:
            return opened.read(_LARGEST_FILE).rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise wrong_usage(f"--password-file: {file} cannot be read: {reason}.") from error
