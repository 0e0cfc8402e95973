"""The verb `delete`: named or selected, never without a yes."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tidegate.cli import options
from tidegate.cli.context import CliContext
from tidegate.cli.failures import failure_of, wrong_usage
from tidegate.cli.http.client import Client
from tidegate.cli.http.nouns import Noun
from tidegate.cli.http.wire import full_name_of, uid_of
from tidegate.cli.options import read_timeout
from tidegate.cli.output.asking import ask_whether_to
from tidegate.cli.output.terminal import printable
from tidegate.cli.verbs.getting import place_of
from tidegate.cli.verbs.waiting import wait_until_gone
from tidegate.errors import TidegateError

Dependents = Callable[[Client, list[str]], Iterable[str]]


@dataclass(frozen=True)
class DeletionWishes:
    """The options of every verb that deletes, but for `--all`, which each explains by itself."""

    selector: options.Selector = ""
    yes: options.Yes = False
    dry_run: options.DryRun = False
    wait: options.Wait = False
    timeout: options.Timeout = ""


@dataclass(frozen=True)
class Deletion:
    """What shall go, and how."""

    names: tuple[str, ...]
    every: bool
    wishes: DeletionWishes
    namespace: str = ""


def nobody(_client: Client, _names: list[str]) -> Iterable[str]:
    """For what nothing depends on."""
    return ()


def delete(cli: CliContext, noun: Noun, deletion: Deletion, *, dependents: Dependents = nobody) -> None:
    """Find what is meant, name what depends on it, ask, delete, and with --wait stay until it is gone."""
    timeout = read_timeout(deletion.wishes.timeout)
    with cli.connect() as client:
        names = _meant(client, noun, deletion)
        if not names:
            cli.terminal.note(f"No {noun.word}s found.")
            return
        for sentence in dependents(client, names):
            cli.terminal.note(printable(f"Note: {sentence}"))
        if not deletion.wishes.dry_run and not deletion.wishes.yes:
            ask_whether_to(cli, "delete", noun, names, done="deleted")
        remaining = _delete_each(cli, client, noun, names, deletion)
    if deletion.wishes.wait and remaining:
        wait_until_gone(cli, noun.plural, remaining, timeout=timeout, word=noun.word)


def _meant(client: Client, noun: Noun, deletion: Deletion) -> list[str]:
    """The full names. Either named or selected, never both: a typo must not widen what is deleted."""
    selected = deletion.every or bool(deletion.wishes.selector)
    if bool(deletion.names) == selected:
        raise wrong_usage(
            f"Say which {noun.word}s to delete.",
            hint="Give their names, or --all, or a selector with -l, but not both.",
        )
    if deletion.names:
        places = [place_of(noun, name, deletion.namespace) for name in dict.fromkeys(deletion.names)]
        return [f"{namespace}/{name}" if namespace else name for name, namespace in places]
    listing = client.list(noun.plural, namespace=deletion.namespace, selector=deletion.wishes.selector)
    return [full_name_of(wire) for wire in listing.items]


def _delete_each(cli: CliContext, client: Client, noun: Noun, names: list[str], deletion: Deletion) -> dict[str, str]:
    """Delete all, whatever happens to one of them; returns those that are still being cleaned up, by uid."""
    remaining: dict[str, str] = {}
    for full_name in names:
        try:
            place = place_of(noun, full_name, "")
            wire = client.delete(noun, *place, dry_run=deletion.wishes.dry_run)
        except TidegateError as error:
            if len(names) == 1:
                raise
            cli.report(failure_of(error))
            continue
        if deletion.wishes.dry_run:
            cli.terminal.note(f"Nothing was changed; {noun.word} {full_name} would be deleted.")
        elif wire is not None:
            remaining[uid_of(wire)] = full_name
            cli.terminal.note(f"Deleting {noun.word} {full_name}; the server cleans up behind it.")
        else:
            cli.terminal.note(f"Deleted {noun.word} {full_name}.")
        cli.terminal.out(f"{noun.tag}/{full_name}")
    return remaining
