"""Which namespaces a backup touches, and whether two backups touch the same one.

A scope is resolved against one *universe* for the whole queue, so that an index over names finds overlaps. The universe
holds more than what exists: every name that some backup spells out, and one made-up witness per glob. So two backups of
a namespace that does not exist yet do overlap: they would both find it if it came while they run.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

from tidegate.model.names import check_namespace

# Stands for the namespaces that nobody has named yet: every unfiltered backup touches those too.
ALL_OTHERS = "*"

MOST_GLOBS = 64
_FILLING = "9q7z9"
_ANY = ("*", "?")
_ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789-"
_GLOB_SIGNS = re.compile(r"[*?\[\]]")
_FORBIDDEN = re.compile(r"[|()!{},]")
_BRACKET = re.compile(r"\[[a-z0-9-]+\]")


class MadeUp(str):
    """A name that is not known to exist: it stands for what one glob or two can match. Never shown to people."""

    __slots__ = ()


class Scope(NamedTuple):
    """Exactly these names; or all but these, those included that nobody has named yet."""

    names: frozenset[str]
    all_but: bool = False

    def shared_with(self, other: "Scope") -> frozenset[str]:
        """What both touch; ALL_OTHERS stands for what has no name yet. Empty if they do not overlap."""
        if self.all_but and other.all_but:
            return frozenset({ALL_OTHERS})
        if self.all_but:
            return other.names - self.names
        return self.names - other.names if other.all_but else self.names & other.names


NOTHING = Scope(frozenset())


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
    """The names that pass both lists. Empty includes, or a bare `*` among them, mean all."""
    includes, excludes = tuple(included), tuple(excluded)
    if "*" in excludes:
        return NOTHING
    unwanted = _matcher(excludes)
    if not includes or "*" in includes:
        plain = frozenset(name for name in excludes if not is_glob(name))
        meant = {name for name in universe if unwanted(name)} if len(plain) < len(excludes) else set()
        return Scope((plain | meant) - {ALL_OTHERS}, all_but=True)
    if not any(map(is_glob, includes)):
        return Scope(frozenset(name for name in includes if not unwanted(name)))
    wanted = _matcher(includes)
    return Scope(frozenset(name for name in universe if name == ALL_OTHERS or (wanted(name) and not unwanted(name))))


def universe_of(existing: Iterable[str], patterns: Iterable[str]) -> frozenset[str]:
    """Every namespace that exists, is spelt out, or could be meant by a glob or by two of them.

    With more globs than anyone has, ALL_OTHERS is in it: every glob then overlaps with every other, to be safe.
    """
    spelt = set(patterns) - {"*"}
    globs = sorted(filter(is_glob, spelt))
    # Of equal names a union keeps the left one: a name that exists or is spelt out is not made up.
    names = frozenset(existing) | (spelt - set(globs)) | {MadeUp(_witness(glob)) for glob in globs}
    if len(globs) > MOST_GLOBS:
        return names | {ALL_OTHERS}
    pairs = list(combinations(globs, 2))
    pairs += [(_stuffed(one), _stuffed(other)) for one, other in pairs]
    return names | {MadeUp(name) for pair in pairs if (name := common_name(*pair)) is not None}


def matches(pattern: str, name: str) -> bool:
    """Whether a name, or a glob, means this namespace."""
    return _matcher((pattern,))(name)


def selects(name: str, *, included: Iterable[str], excluded: Iterable[str]) -> bool:
    """Whether one namespace passes both lists."""
    return bool(resolve_scope(included, excluded, universe=(name,)).shared_with(Scope(frozenset({name}))))


def _witness(pattern: str) -> str:
    """A name that the glob matches, and that hardly any other glob was written for.

    What one backup excludes from its glob must not be the very name that stands for all that it includes.
    """
    filled = re.sub(r"\[([a-z0-9-])[a-z0-9-]*\]", r"\1", pattern)
    return filled.replace("*", _FILLING).replace("?", "q")


def _stuffed(glob: str) -> str:
    """A narrower glob, whose stars stand for something unusual."""
    return glob.replace("*", f"*{_FILLING}*")


@lru_cache(maxsize=2 * MOST_GLOBS * MOST_GLOBS)
def common_name(one: str, other: str) -> str | None:
    """A name that both globs match; None if there is none."""
    ones, others = _signs(one), _signs(other)
    end = (len(ones), len(others))
    names = {(0, 0): ""}  # by how many signs of each are used up
    reached = [(0, 0)]
    for at in reached:
        for following, character in _steps(ones, others, *at):
            if following not in names:
                names[following] = names[at] + character
                reached.append(following)
    return names.get(end)


def _steps(ones: list[str], others: list[str], i: int, j: int) -> Iterable[tuple[tuple[int, int], str]]:
    """What may follow when `i` signs of one glob and `j` of the other are used up, and the character it takes."""
    here = ones[i] if i < len(ones) else ""
    there = others[j] if j < len(others) else ""
    if here == "*":
        yield (i + 1, j), ""
    if there == "*":
        yield (i, j + 1), ""
    for character in _common_characters(here, there):
        yield (i if here == "*" else i + 1, j if there == "*" else j + 1), character


def _common_characters(here: str, there: str) -> str:
    """One character that both signs take, if there is one."""
    if not here or not there:
        return ""
    if here in _ANY and there in _ANY:
        return "x"
    if here in _ANY or there in _ANY:
        return min(_members(there if here in _ANY else here))
    return min(_members(here) & _members(there), default="")


def _members(sign: str) -> set[str]:
    """The characters that a sign takes which is no `*` and no `?`."""
    return {character for character in _ALPHABET if _compiled(sign).fullmatch(character)}


def _signs(pattern: str) -> list[str]:
    """Its parts: `*`, `?`, `[abc]`, or one plain character each."""
    return re.findall(r"\[[^\]]*\]|.", pattern)


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
