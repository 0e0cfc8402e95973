"""Where in a bucket a target lives: the URL forms that Longhorn writes, read leniently."""

import re
from dataclasses import dataclass
from urllib.parse import unquote

from tidegate.errors import InvalidInput

_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,254}")
_QUALIFIER = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]*")
_EXAMPLES = {
    "s3": "s3://bucket@eu-central-1/path/",
    "azblob": "azblob://container@core.windows.net/path/",
    "gs": "gs://bucket/path/",
}


@dataclass(frozen=True)
class Place:
    """A bucket (or container), what is behind its `@` (a region or an endpoint's suffix), and the path of all keys."""

    scheme: str
    bucket: str
    qualifier: str
    path: str

    def __str__(self) -> str:
        """The canonical URL, without options: what sentences name a target by."""
        at = f"@{self.qualifier}" if self.qualifier else ""
        return f"{self.scheme}://{self.bucket}{at}/{self.path}"

    def key(self, key: str) -> str:
        """The object's whole name in the bucket. Raises InvalidInput for a key that could mean another one."""
        if not key:
            raise InvalidInput("the empty key is no object")
        return self.prefix(key)

    def prefix(self, prefix: str) -> str:
        """The same for a prefix, which may be empty."""
        parts = prefix.split("/") if prefix else []
        if any(part in {"", ".", ".."} or "\0" in part for part in parts):
            raise InvalidInput(f"{prefix!r} is not a key: no part of it may be empty, '.' or '..'")
        return "/".join(part for part in (self.path.rstrip("/"), prefix) if part)

    def without_path(self, name: str) -> str:
        """The key of an object by its whole name in the bucket."""
        return name.removeprefix(self.path.rstrip("/")).lstrip("/")


def read_place(scheme: str, rest: str) -> Place:
    """`bucket[@qualifier][/path]`. Longhorn wants the slash behind the bucket; we do not insist."""
    authority, _, path = rest.partition("?")[0].partition("/")
    bucket, at, qualifier = authority.partition("@")
    if not _BUCKET.fullmatch(bucket) or (at and not _QUALIFIER.fullmatch(qualifier)) or (at and scheme == "gs"):
        raise InvalidInput(
            f"'{scheme}://{rest}' does not name a bucket",
            field="spec.url",
            hint=f"write for example {_EXAMPLES[scheme]}",
        )
    place = Place(scheme, bucket, qualifier, unquote(path).lstrip("/"))
    place.prefix(place.path.rstrip("/"))  # refuses a path that could lead elsewhere
    return place
