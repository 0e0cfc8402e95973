"""Small trees and images with something of everything, and a picture of them to compare."""

import os
from pathlib import Path


def fill_tree(path: Path, seed: int = 0) -> Path:
    """A small tree with something of everything."""
    (path / "deep" / "er").mkdir(parents=True)
    (path / "text.txt").write_text(f"tree {seed}\n" * 1000)
    (path / "deep" / "large.bin").write_bytes(bytes(range(256)) * 20_000)
    (path / "deep" / "er" / "empty").touch()
    (path / "link").symlink_to("deep/large.bin")
    (path / "text.txt").chmod(0o640)
    os.utime(path / "text.txt", ns=(10**18 + seed, 10**18 + seed))
    return path


def fill_image(path: Path, size: int = 5 * 1024 * 1024 + 12_345) -> Path:
    """A sparse image whose size is no multiple of anything."""
    with path.open("wb") as file:
        file.truncate(size)
        file.seek(1024 * 1024)
        file.write(b"data in the middle " * 5000)
        file.seek(size - 5)
        file.write(b"END!\n")
    return path


def picture(path: Path) -> dict[str, tuple[int, int, str | bytes]]:
    """Everything about a tree that must come back."""
    shown: dict[str, tuple[int, int, str | bytes]] = {}
    for entry in sorted(path.rglob("*")):
        facts = entry.lstat()
        content: str | bytes = (
            str(entry.readlink()) if entry.is_symlink() else entry.read_bytes() if entry.is_file() else "directory"
        )
        shown[str(entry.relative_to(path))] = (facts.st_mode, facts.st_mtime_ns if entry.is_file() else 0, content)
    return shown
