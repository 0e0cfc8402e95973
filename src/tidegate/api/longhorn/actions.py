"""`?action=`: what is asked for, and the sentence for what cannot be."""

from collections.abc import Sequence

from fastapi import Request

from tidegate.errors import InvalidInput


def action_in(
    request: Request, action: str | None, *, known: Sequence[str], allowed: Sequence[str], needed: bool = False
) -> str:
    """The action, or nothing if none is named; anything else than one of the allowed raises InvalidInput."""
    if len(request.query_params.getlist("action")) > 1:
        raise InvalidInput("only one action can be asked for at once", field="action")
    if action is None and not needed:
        return ""
    if action is not None and action in allowed:
        return action
    words = ", ".join(allowed)
    if action in known:
        raise InvalidInput(f"{action} cannot be asked for with {request.method}", field="action", hint="use POST")
    what = f"there is no action {action!r}" if action else "no action is named"
    raise InvalidInput(what, field="action", hint=f"there are: {words}")


def only_known_parameters(request: Request, *known: str) -> None:
    """Raise InvalidInput for a parameter that means nothing here: it may be a word misspelt that meant less."""
    for name in request.query_params:
        if name not in known:
            raise InvalidInput(f"{name[:80]!r} means nothing here", field=name[:80], hint="leave it away")
