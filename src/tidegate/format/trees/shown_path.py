"""A path in a sentence: whole, unless it is so long that it would hide the sentence."""

_LONGEST = 400
_SHOWN_OF_EACH_END = 150


def shown_path(path: str) -> str:
    """The path, or its two ends and how long it is."""
    if len(path) <= _LONGEST:
        return path
    begin, end = path[:_SHOWN_OF_EACH_END], path[-_SHOWN_OF_EACH_END:]
    return f"{begin}[... {len(path)} characters in all ...]{end}"
