"""The stores that Longhorn's own code wrote: data that lies beside the project, not in it."""

import json
import shutil
from pathlib import Path

GOLDEN = Path(__file__).parents[4].parent / "shared" / "golden"
WHY_SKIPPED = "no golden stores in ../shared/golden beside the project"


def golden_backups() -> list[tuple[str, str, str, str]]:
    """(case, volume, backup, sha256 of what Longhorn restores) of every backup; none without the data."""
    if not GOLDEN.is_dir():
        return []
    index = json.loads((GOLDEN / "INDEX.json").read_text())
    return [
        (case, volume, backup, sha256)
        for case, volumes in index.items()
        for volume, backups in volumes.items()
        for backup, sha256 in backups.items()
    ]


def golden_files(pattern: str) -> list[Path]:
    """All files of that kind; none without the data."""
    return sorted(GOLDEN.rglob(pattern))


def copy_of_store(case: str, to: Path) -> Path:
    """A store that a test may write locks into."""
    shutil.copytree(GOLDEN / case / "store", to)
    for path in [to, *to.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    return to
