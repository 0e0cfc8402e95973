"""What two backups share, as a person reads it: names that exist or are spelt out, else the patterns that meet."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from tidegate.decide.queue.overlap import ALL_OTHERS, MOST_GLOBS, MadeUp, is_glob, matches

_MOST_NAMED = 5
Patterns = Sequence[str]


class Shared(NamedTuple):
    """Either names or patterns; neither where nothing is shared."""

    names: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    """Two that can match the same namespace, or the one that both include."""
    too_many: bool = False
    """Whether the queue holds so many patterns that each counts as overlapping every other."""

    @property
    def sentence(self) -> str:
        """What follows after who is in the way and what that one does."""
        match self.patterns:
            case (one, other) if self.too_many:
                many = f"with more than {MOST_GLOBS} patterns in the queue"
                return f", and {many} `{one}` and `{other}` count as overlapping"
            case (one, other):
                return f", and `{one}` and `{other}` can match the same namespace"
            case (one,):
                return f" and shares namespaces that match `{one}`"
            case _:
                return f" and shares {_listed(self.names)}"


def shared_names(found: Collection[str], mine: Patterns, theirs: Patterns) -> Shared:
    """`found` is what both touch, `mine` and `theirs` the namespaces and globs that they include; empty means all.

    A name that was made up to find the overlap is never shown.
    """
    known = sorted(name for name in found if name != ALL_OTHERS and not isinstance(name, MadeUp))
    if known:
        return Shared(tuple(known))
    # Always the same one, so that the sentence stays as it is while nothing happens.
    made_up = min((name for name in found if isinstance(name, MadeUp)), default=None)
    if made_up is not None:
        meeting = dict.fromkeys([_including(mine, made_up), _including(theirs, made_up)])
        return Shared(patterns=tuple(pattern for pattern in meeting if pattern != ALL_OTHERS))
    if found and _filters(mine) and _filters(theirs):
        return Shared(patterns=tuple(next(filter(is_glob, patterns)) for patterns in (mine, theirs)), too_many=True)
    return Shared(tuple(found))


def _including(patterns: Patterns, name: str) -> str:
    matching = (pattern for pattern in patterns if matches(pattern, name))
    return next(matching, ALL_OTHERS) if _filters(patterns) else ALL_OTHERS


def _filters(patterns: Patterns) -> bool:
    return bool(patterns) and ALL_OTHERS not in patterns


def _listed(names: Sequence[str]) -> str:
    """Namespaces, or volumes: few by name, many as a count."""
    shown = ["all other namespaces" if name == ALL_OTHERS else name for name in names]
    thing = "volume" if any("/" in name for name in names) else "namespace"
    if len(shown) == 1:
        return shown[0] if shown[0].startswith("all ") else f"{thing} {shown[0]}"
    more = f" and {len(shown) - _MOST_NAMED} more" if len(shown) > _MOST_NAMED else ""
    return f"{thing}s {', '.join(shown[:_MOST_NAMED])}{more}"
