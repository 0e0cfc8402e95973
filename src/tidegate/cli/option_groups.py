"""Options that belong together, declared once as the fields of a dataclass and taken by every command that has them."""

import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints


def with_option_groups(command: Callable[..., None]) -> Callable[..., None]:
    """The command as the parser shall see it: each parameter that is a dataclass is replaced by its fields.

    A field becomes an option of the same name, with the annotation and the default that it has in the dataclass.
    """
    signature = inspect.signature(command)
    hints = get_type_hints(command, include_extras=True)
    groups = {name: hints[name] for name in signature.parameters if is_dataclass(hints[name])}

    @wraps(command)
    def with_groups(**given: Any) -> None:  # noqa: ANN401  # whatever the options are
        made = {name: group(**{f.name: given.pop(f.name) for f in fields(group)}) for name, group in groups.items()}
        command(**given, **made)

    shown: list[inspect.Parameter] = []
    for parameter in signature.parameters.values():
        shown += _options_of(groups[parameter.name]) if parameter.name in groups else [_by_name(parameter, hints)]
    with_groups.__dict__["__signature__"] = inspect.Signature(shown)
    with_groups.__annotations__ = {parameter.name: parameter.annotation for parameter in shown}
    return with_groups


def _options_of(group: type) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(f.name, inspect.Parameter.KEYWORD_ONLY, annotation=hints[f.name], default=f.default)
        for f in fields(group)
    ]


def _by_name(parameter: inspect.Parameter, hints: dict[str, Any]) -> inspect.Parameter:
    return parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[parameter.name])
