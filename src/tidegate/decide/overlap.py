"""Which namespaces a backup touches, and whether two backups touch the same one.

A scope is a plain set of names, resolved against one *universe* for the whole queue, so that overlap is set
intersection and an index over namespaces works. The universe holds more than what exists: every name that some backup
spells out, and one made-up witness per glob. So two backups of a namespace that does not exist yet do overlap: they
would both find it if it came while they run.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

from tidegate.model.names import check_namespace

# Stands for the namespaces that nobody has named yet: every unfiltered backup touches those too.
ALL_OTHERS = "*"

Scope = frozenset[str]

_GLOB_SIGNS = re.compile(r"[*?\[\]]")
_FORBIDDEN = re.compile(r"[|()!{},]")
_BRACKET = re.compile(r"\[[a-z0-9-]+\]")


def is_glob(pattern: str) -> bool:
    """Whether the pattern may match more than one name."""
    return _GLOB_SIGNS.search(pattern) is not None


def check_pattern(pattern: str) -> str:
    """A namespace name or a glob of `*`, `?` and `[abc]`; raises ValueError with a sentence otherwise."""
    if not is_glob(pattern):
        return check_namespace(pattern)
    if "**" in pattern:
        raise ValueError(f"{pattern!r}: '**' means nothing here, write '*'")
    if forbidden := _FORBIDDEN.search(pattern):
        raise ValueError(f"{pattern!r}: {forbidden[0]!r} is not allowed in a namespace pattern; use *, ? and [abc]")
    rest = _BRACKET.sub("", pattern)
    if "[" in rest or "]" in rest:
        raise ValueError(f"{pattern!r}: brackets must be closed and hold lower-case letters, digits or '-'")
    if not re.fullmatch(r"[-a-z0-9*?]*", rest):
        raise ValueError(f"{pattern!r} is not a namespace pattern: use lower-case letters, digits, '-', *, ? and [abc]")
    return pattern


def resolve_scope(included: Iterable[str], excluded: Iterable[str], *, universe: Iterable[str]) -> Scope:
    """The names of the universe that pass both lists. Empty includes, or a bare `*` among them, mean all."""
    includes, excludes = tuple(included), tuple(excluded)
    everything = not includes or "*" in includes
    keeps = _matcher(excludes)
    wanted = _matcher(includes)
    names = {name for name in universe if (everything or wanted(name)) and not keeps(name)}
    if everything and "*" not in excludes:
        names.add(ALL_OTHERS)
    return frozenset(names)


def universe_of(existing: Iterable[str], patterns: Iterable[str]) -> frozenset[str]:
    """Every namespace that exists, is spelt out, or could be meant by a glob."""
    return frozenset(existing) | {_witness(pattern) for pattern in patterns if pattern != "*"}


def selects(name: str, *, included: Iterable[str], excluded: Iterable[str]) -> bool:
    """Whether one namespace passes both lists."""
    return name in resolve_scope(included, excluded, universe=(name,))


def _witness(pattern: str) -> str:
    """A name that the glob matches; for a plain name the name itself."""
    filled = re.sub(r"\[([a-z0-9-])[a-z0-9-]*\]", r"\1", pattern)
    return filled.replace("*", "x").replace("?", "x")


@lru_cache(maxsize=4096)
def _compiled(pattern: str) -> re.Pattern[str]:
    parts = re.split(r"(\*|\?|\[[^\]]*\])", pattern)
    translated = {"*": ".*", "?": "."}
    return re.compile("".join(translated.get(p, p if p.startswith("[") else re.escape(p)) for p in parts))


class _matcher:  # noqa: N801  # reads as a function where it is used
    """Whether a name matches any of the patterns: plain names by lookup, globs one by one."""

    def __init__(self, patterns: tuple[str, ...]) -> None:
        self._names = {pattern for pattern in patterns if not is_glob(pattern)}
        self._globs = [_compiled(pattern) for pattern in patterns if is_glob(pattern)]

    def __call__(self, name: str) -> bool:
        return name in self._names or any(glob.fullmatch(name) for glob in self._globs)
