"""Globs over the paths of a tree, as people know them from the shell and from `.gitignore`.

`*` and `?` stay within one name, `**` goes through directories. A glob without a `/` is about a name at any depth; one
with a `/` is about the path from the tree's root. Whoever names a directory means everything in it.
"""

import re
from collections.abc import Sequence

from tidegate.errors import InvalidInput

_LONGEST_GLOB = 4096


class TreeGlobs:
    """Some globs, ready to be asked about many paths. Raises InvalidInput for one that can never match."""

    def __init__(self, globs: Sequence[str]) -> None:
        self._pattern = re.compile("|".join(_regex(glob) for glob in globs) or r"(?!)", re.DOTALL)

    def match(self, path: str) -> bool:
        """Whether a glob is about this path itself."""
        return self._pattern.fullmatch(path) is not None


def _regex(glob: str) -> str:
    wanted = glob.removeprefix("./").strip("/")
    if not wanted or len(glob) > _LONGEST_GLOB or any(part in {".", ".."} for part in wanted.split("/")):
        raise InvalidInput(
            f"{glob[:80]!r} matches no path of a tree", hint="write for example '*.txt' or 'etc/nginx/**'"
        )
    anywhere = "" if glob.startswith("/") or "/" in wanted else "(?:.*/)?"
    return f"(?:{anywhere}{_translated(wanted)})"


def _translated(glob: str) -> str:
    regex, rest = "", glob
    while rest:
        for sign, meaning in (("**/", "(?:.*/)?"), ("**", ".*"), ("*", "[^/]*"), ("?", "[^/]")):
            if rest.startswith(sign):
                regex, rest = regex + meaning, rest[len(sign) :]
                break
        else:
            piece, rest = _set_or_character(rest)
            regex += piece
    return regex


def _set_or_character(rest: str) -> tuple[str, str]:
    """`[abc]`, `[!a-c]`, or one character that means itself."""
    end = rest.find("]", 3 if rest.startswith("[!") else 2)
    if not rest.startswith("[") or end == -1:
        return re.escape(rest[0]), rest[1:]
    inside = rest[1:end].removeprefix("!")
    # A range that runs backwards is nothing that `re` takes; as plain characters it still means something.
    plain = re.escape(inside).replace(r"\-", "-")
    try:
        re.compile(f"[{plain}]")
    except re.error:
        plain = re.escape(inside)
    negated = "^/" if rest.startswith("[!") else ""
    return f"[{negated}{plain}]", rest[end + 1 :]
