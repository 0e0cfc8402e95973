"""URLs of stores: when two of them mean one store."""

from urllib.parse import parse_qsl


def same_store(one: str, other: str) -> bool:
    """Whether two URLs name one store: Longhorn says vfs for file, and nobody minds a slash at the end."""
    return _plain(one) == _plain(other)


def as_longhorn_writes_it(url: str) -> str:
    """Return the URL in the words of Longhorn, which opens a directory only as `vfs`."""
    scheme, mark, rest = url.partition("://")
    return f"vfs{mark}{rest}" if scheme.lower() == "file" else url


def _plain(url: str) -> tuple[str, str, tuple[tuple[str, str], ...]]:
    base, _, query = url.strip().partition("?")
    scheme, _, rest = base.partition("://")
    plain_scheme = "file" if scheme.lower() == "vfs" else scheme.lower()
    return plain_scheme, rest.rstrip("/"), tuple(sorted(parse_qsl(query, keep_blank_values=True)))
