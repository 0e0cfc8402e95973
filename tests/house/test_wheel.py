"""What is installed: everything that runs, and nothing that only tests use."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("src", "README.md", "LICENSE", "pyproject.toml", "hatch_build.py")


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The files of a wheel, unpacked. Built from a copy, because a build replaces the compiled part in its place."""
    copy, wheels, place = (tmp_path_factory.mktemp(name) for name in ("copy", "wheels", "place"))
    for part in PARTS:
        copied = shutil.copytree if (ROOT / part).is_dir() else shutil.copy
        copied(ROOT / part, copy / part)
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(wheels)]
    subprocess.run(command, cwd=copy, check=True, capture_output=True, env=os.environ | {"TIDEGATE_PURE": "1"})
    with zipfile.ZipFile(next(wheels.glob("*.whl"))) as wheel:
        wheel.extractall(place)
    return place


def test_a_wheel_carries_every_module_but_those_of_tests(installed):
    source = ROOT / "src"
    wanted = {path.relative_to(source) for path in source.rglob("*.py")}
    carried = {path.relative_to(installed) for path in installed.rglob("*.py")}

    assert carried == {path for path in wanted if path.parts[:2] != ("tidegate", "testing")}


def test_the_program_of_a_wheel_starts_without_them(installed):
    script = "import sys; sys.path.insert(0, sys.argv.pop(1)); from tidegate.app.main import main; main()"
    told = subprocess.run(
        [sys.executable, "-I", "-c", script, str(installed), "version", "--help"],
        check=False,
        capture_output=True,
        text=True,
    )

    assert (told.returncode, "version" in told.stdout) == (0, True), told.stderr
