"""The built web page in memory: a few hundred kilobytes, read once, so no request ever names a path on disk."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
START = "index.html"


@dataclass(frozen=True)
class PageFile:
    """One file as it is sent."""

    body: bytes
    media_type: str


@dataclass(frozen=True)
class PageFiles:
    """All files by their path in a URL, without the slash in front. Empty: nobody built the page."""

    files: Mapping[str, PageFile] = field(default_factory=dict)

    @property
    def start(self) -> PageFile | None:
        """What every screen begins with."""
        return self.files.get(START)


def read_page(directory: Path) -> PageFiles:
    """The page that was built into a directory; a directory without one is an empty page."""
    if not (directory / START).is_file():
        return PageFiles()
    found = (path for path in sorted(directory.rglob("*")) if path.suffix in MEDIA_TYPES)
    return PageFiles(
        {
            path.relative_to(directory).as_posix(): PageFile(path.read_bytes(), MEDIA_TYPES[path.suffix])
            for path in found
        }
    )
