"""What `.ci/run` makes of a test that fails: a flaky test is named, and a broken run is never hidden."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

RERUN = Path(__file__).resolve().parents[2] / ".ci" / "rerun_failures.py"
PASSES = "def test_that_passes(): assert True\n"
BROKEN = "def test_that_is_broken(): assert False\n"
# A shell that starts something in the background has it ignore the signal.
INTERRUPTS = """
import os, signal

def test_that_interrupts():
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.kill(os.getpid(), signal.SIGINT)
"""
FAILS_ONCE = """
import pathlib, pytest

@pytest.mark.xdist_group("a/group.py")
@pytest.mark.parametrize("name", ["a@b", "c"])
def test_that_fails_once(name):
    been_here = pathlib.Path(__file__).with_name(f"been_here_{name}")
    if name == "a@b" and not been_here.exists():
        been_here.touch()
        assert False
"""


@pytest.fixture
def run(tmp_path):
    """Run the given tests through the script; return its exit code, what it names as flaky and what it prints."""

    def run_(*arguments, **files):
        for name, text in files.items():
            (tmp_path / f"test_{name}.py").write_text(text)
        (tmp_path / "pytest.ini").write_text("[pytest]\n")
        report = tmp_path / "flaky"
        report.write_text("")
        environment = {**os.environ, "FLAKY_TESTS": str(report)}
        environment.pop("PYTEST_XDIST_WORKER", None)
        done = subprocess.run(
            [sys.executable, RERUN, "-q", *arguments],
            check=False,
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
        )
        return done.returncode, report.read_text(), done.stdout

    return run_


def test_a_run_that_passes_is_not_run_again(run):
    code, flaky, printed = run(passes=PASSES)

    assert (code, flaky) == (0, "")
    assert "once more" not in printed


def test_a_test_that_passes_alone_is_named_as_flaky_and_the_run_goes_on(run):
    code, flaky, printed = run(passes=PASSES, once=FAILS_ONCE)

    assert (code, flaky) == (0, "FLAKY test_once.py::test_that_fails_once[a@b]\n")
    assert flaky in printed


def test_a_flaky_test_of_a_group_is_found_by_its_own_name(run):
    code, flaky, _ = run("-n", "1", "--dist", "loadgroup", once=FAILS_ONCE)

    assert (code, flaky) == (0, "FLAKY test_once.py::test_that_fails_once[a@b]\n")


def test_a_test_that_fails_twice_fails_the_run_also_beside_a_flaky_one(run):
    code, flaky, printed = run(broken=BROKEN, once=FAILS_ONCE)

    assert (code, flaky) == (1, "FLAKY test_once.py::test_that_fails_once[a@b]\n")
    assert "FAILED TWICE test_broken.py::test_that_is_broken" in printed


@pytest.mark.parametrize(
    ("arguments", "files", "code"),
    [
        (["--no-such-option"], {"passes": PASSES}, 4),
        (["-m", "not a_mark_that_exists and False"], {"passes": PASSES}, 5),
        (
            [],
            {"passes": PASSES, "interrupts": INTERRUPTS},
            2,
        ),
    ],
    ids=["wrong usage", "no test", "interrupted"],
)
def test_a_run_that_did_not_run_its_tests_keeps_its_exit_code(run, arguments, files, code):
    assert run(*arguments, **files)[:2] == (code, "")


def test_a_file_that_cannot_be_loaded_fails_the_run(run):
    code, flaky, _ = run(passes=PASSES, unreadable="import no_such_module\n")

    assert (code != 0, flaky) == (True, "")


def test_many_failures_are_a_broken_build_and_are_not_run_again(run):
    many = "import pytest\n@pytest.mark.parametrize('n', range(21))\ndef test_that_is_broken(n): assert False\n"

    code, flaky, printed = run(many=many)

    assert (code, flaky) == (1, "")
    assert "none of them is run again" in printed
