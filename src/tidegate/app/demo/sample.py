"""Three small applications' worth of data, and proof that it is the same again."""

import hashlib
import os
from pathlib import Path
from random import Random

MIB = 1024 * 1024

# Which directories and images the story protects: namespace, volume, kind.
VOLUMES = (
    ("shop", "database", "image"),
    ("shop", "uploads", "directory"),
    ("blog", "posts", "directory"),
    ("wiki", "pages", "directory"),
)


def make_sample(root: Path) -> None:
    """The same bytes on every run: text, noise, a sparse image, links and odd names."""
    random = Random(2026)  # noqa: S311  # sample data
    for namespace, volume, kind in VOLUMES:
        path = root / namespace / volume
        path.parent.mkdir(parents=True, exist_ok=True)
        if kind == "image":
            _make_image(path, random)
        else:
            _make_tree(path, random)


def _make_image(path: Path, random: Random) -> None:
    with path.open("wb") as file:
        file.truncate(256 * MIB)  # most of it stays a hole
        for place in range(0, 96, 3):
            file.seek(place * MIB)
            file.write(random.randbytes(MIB))
            file.write(b"a page of a table that compresses well. " * 20_000)


def _make_tree(path: Path, random: Random) -> None:
    for number in range(240):
        folder = path / f"{number % 12:02}"
        folder.mkdir(parents=True, exist_ok=True)
        size = random.randrange(1, 200_000)
        body = random.randbytes(size) if number % 3 == 0 else (f"page {number} of {path.name}\n" * size)[:size].encode()
        (folder / f"file {number}.txt").write_bytes(body)
    (path / "large.bin").write_bytes(random.randbytes(24 * MIB))
    (path / "empty").touch()
    (path / "grüße ☂").write_text("names may be anything\n")
    (path / "latest").symlink_to("large.bin")
    os.link(path / "large.bin", path / "hard link")
    (path / "large.bin").chmod(0o600)


def fingerprint(root: Path) -> dict[str, str]:
    """Everything that must come back: kind, mode, size, time and checksum of every entry."""
    found = {}
    for path in sorted(root.rglob("*")):
        facts = path.lstat()
        if path.is_symlink():
            content = f"-> {path.readlink()}"
        elif path.is_file():
            with path.open("rb") as file:
                content = hashlib.file_digest(file, "sha256").hexdigest()
        else:
            content = "directory"
        # Directories above the volumes are not part of any backup; their times are their own.
        time = facts.st_mtime_ns if len(path.relative_to(root).parts) > 2 and not path.is_dir() else 0  # noqa: PLR2004
        found[str(path.relative_to(root))] = f"{facts.st_mode:o} {time} {content}"
    return found
