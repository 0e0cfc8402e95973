"""What is installed carries the page."""

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_a_wheel_carries_the_built_page_and_every_file_that_it_names(tmp_path):
    if not (ROOT / "src" / "tidegate" / "page" / "index.html").exists():
        pytest.skip("the page is not built: make ui")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)

    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        names = set(wheel.namelist())
        start = wheel.read("tidegate/page/index.html").decode()

    named = re.findall(r'(?:src|href)="/([^"]+)"', start)
    assert len(named) >= 3
    assert {f"tidegate/page/{name}" for name in named} <= names
    assert [name for name in names if name.startswith("ui/")] == []
