"""Run pytest; run each test that failed once more, alone; tell a flaky test from a broken one.

    python .ci/rerun_failures.py PYTEST_ARGUMENT...

Exit with pytest's own code unless every test that failed passes alone: then exit with 0 and write `FLAKY <test>` to
the file that FLAKY_TESTS names. A run that pytest could not finish (an internal error, a usage error, an interrupt) is
never called flaky, and neither is one with many failures: that is a broken build, and running it again only costs time.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

SOME_TESTS_FAILED = 1
MOST_FAILURES = 20
# xdist marks the tests of a group with its name; pytest does not know a test by that name.
_GROUP = re.compile(r"(?<=[\w\]])@[^\[\]]*$")


def main(arguments: Sequence[str]) -> int:
    """Run the suite, then its failures, and return the exit code that the whole deserves."""
    with tempfile.TemporaryDirectory() as cache:
        code = _pytest(*arguments, "-o", f"cache_dir={cache}")
        failures = _failures(Path(cache)) if code == SOME_TESTS_FAILED else []
    if not failures:
        return code
    if len(failures) > MOST_FAILURES:
        _say(f"{len(failures)} tests failed, more than {MOST_FAILURES}: none of them is run again")
        return code
    _say(f"{len(failures)} tests failed; each is run once more, alone")
    broken = [test for test in failures if _pytest(test, "-q", "-p", "no:cacheprovider") != 0]
    flaky = [test for test in failures if test not in broken]
    _report(flaky)
    for test in broken:
        _say(f"FAILED TWICE {test}")
    return SOME_TESTS_FAILED if broken else 0


def _pytest(*arguments: str) -> int:
    return subprocess.run([sys.executable, "-m", "pytest", *arguments], check=False).returncode  # noqa: S603


def _failures(cache: Path) -> list[str]:
    written = cache / "v" / "cache" / "lastfailed"
    return [_GROUP.sub("", test) for test in json.loads(written.read_text())] if written.exists() else []


def _report(flaky: Sequence[str]) -> None:
    lines = "".join(f"FLAKY {test}\n" for test in flaky)
    _say(lines.rstrip())
    if report := os.environ.get("FLAKY_TESTS"):
        with Path(report).open("a") as file:
            file.write(lines)


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n" if text else "")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
