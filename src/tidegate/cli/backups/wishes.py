"""What a backup shall protect and how: options that `backup create`, `schedule create` and `schedule update` share.

An option that is not given is None, so that an update can tell it from one that is given empty to take a value back.
"""

import shlex
from dataclasses import dataclass
from typing import Annotated

import typer

from tidegate.cli import options
from tidegate.cli.completion import names_of
from tidegate.cli.failures import wrong_usage
from tidegate.cli.http.nouns import NAMESPACE, TARGET
from tidegate.cli.http.wire import Wire
from tidegate.cli.options import read_labels, split_commas
from tidegate.cli.output.formats import OnHookError, OnInterruption


@dataclass(frozen=True)
class BackupWishes:
    """What was said about a backup on the command line."""

    include_namespaces: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES", help="Namespaces or globs, by commas; empty: all.", autocompletion=names_of(NAMESPACE)
        ),
    ] = None
    exclude_namespaces: Annotated[str | None, options.namespaces_left_out()] = None
    selector: Annotated[
        list[str] | None, typer.Option("--selector", metavar="KEY=VALUE", help="Only volumes with these labels.")
    ] = None
    allow_empty: Annotated[
        bool | None,
        typer.Option("--allow-empty/--no-allow-empty", help="Take it also if no volume matches; refused otherwise."),
    ] = None
    ttl: Annotated[str | None, typer.Option(metavar="DURATION", help="Keep it no longer than this, such as 90d.")] = (
        None
    )
    storage_location: Annotated[
        str | None,
        typer.Option(metavar="TARGET", help="Target to write to; empty: the default.", autocompletion=names_of(TARGET)),
    ] = None
    priority: Annotated[
        int | None, typer.Option(metavar="N", help="A head start in the queue, from -10 to 10; 0 if not given.")
    ] = None
    on_interruption: Annotated[
        OnInterruption | None, typer.Option(help="If the server stops meanwhile: Fail, or go back into the queue.")
    ] = None
    pre_hook: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COMMAND",
            help="Before volumes are read: a file in the server's hooks directory, and its arguments; repeatable.",
        ),
    ] = None
    post_hook: Annotated[
        list[str] | None, typer.Option(metavar="COMMAND", help="The same, after they were read; repeatable.")
    ] = None
    hook_timeout: Annotated[
        str | None, typer.Option(metavar="DURATION", help="End each hook after this; 30s if not given.")
    ] = None
    hook_on_error: Annotated[
        OnHookError | None, typer.Option(help="If a hook fails: Fail its volumes, or Continue with a warning.")
    ] = None
    ordered_resources: Annotated[
        str | None,
        typer.Option(metavar="KIND=NAMES", help="What goes first, in order, such as 'volumes=shop/db,shop/files'."),
    ] = None

    def spec(self) -> Wire:
        """Only what was given; what was given empty is None, to be left to the server."""
        labels = None if self.selector is None else read_labels(self.selector)
        given: Wire = {
            "includedNamespaces": _listed(self.include_namespaces),
            "excludedNamespaces": _listed(self.exclude_namespaces),
            "labelSelector": {"matchLabels": labels} if labels else labels,
            "allowEmpty": self.allow_empty,
            "ttl": self.ttl,
            "storageLocation": self.storage_location,
            "priority": self.priority,
            "onInterruption": None if self.on_interruption is None else self.on_interruption.value,
            "hooks": self._hooks(),
            "orderedResources": None if self.ordered_resources is None else _order(self.ordered_resources),
        }
        return {key: value if value not in ("", [], {}) else None for key, value in given.items() if value is not None}

    def _hooks(self) -> Wire | None:
        """For all volumes of the backup; finer choices are made in a document."""
        if self.pre_hook is None and self.post_hook is None:
            if self.hook_timeout is not None or self.hook_on_error is not None:
                raise wrong_usage(
                    "There is no hook that --hook-timeout or --hook-on-error could be for.",
                    hint="Name one with --pre-hook or --post-hook.",
                )
            return None
        stages = {
            "pre": [self._hook("--pre-hook", text) for text in self.pre_hook or [] if text.strip()],
            "post": [self._hook("--post-hook", text) for text in self.post_hook or [] if text.strip()],
        }
        given = {stage: hooks for stage, hooks in stages.items() if hooks}
        return {"resources": [{"name": "command-line", **given}]} if given else {}

    def _hook(self, option: str, text: str) -> Wire:
        try:
            command: Wire = {"command": shlex.split(text)}
        except ValueError as error:
            raise wrong_usage(f"{option} {text!r}: {error}.", hint="Close the quotation marks.") from error
        if self.hook_timeout:
            command["timeout"] = self.hook_timeout
        if self.hook_on_error is not None:
            command["onError"] = self.hook_on_error.value
        return {"exec": command}


def _order(text: str) -> dict[str, str]:
    """`volumes=shop/db,shop/files`; several kinds by semicolons, as velero has it."""
    order: dict[str, str] = {}
    for part in filter(None, map(str.strip, text.split(";"))):
        kind, sign, names = part.partition("=")
        if not sign or not kind.strip() or not split_commas(names):
            raise wrong_usage(
                f"--ordered-resources: {part!r} is not an order.", hint="Write for example volumes=shop/db,shop/files."
            )
        order[kind.strip()] = ",".join(split_commas(names))
    return order


def _listed(text: str | None) -> list[str] | None:
    return None if text is None else split_commas(text)
