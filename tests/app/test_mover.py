"""The mover's own process: what it says of a job that is none."""

import json
import subprocess
import sys

import pytest


@pytest.mark.parametrize("job", ["", "nonsense\n", '{"action": "dance"}\n', '{"action": "upload", "target": 3}\n'])
def test_a_job_that_is_none_is_answered_with_one_error_and_exit_code_2(job):
    mover = subprocess.run(
        [sys.executable, "-m", "tidegate", "mover"], check=False, input=job, capture_output=True, text=True
    )

    (line,) = mover.stdout.splitlines()
    said = json.loads(line)
    assert (said["type"], said["code"]) == ("error", "InvalidInput")
    assert said["message"].startswith("the mover was given no job that it knows: ")
    assert (mover.returncode, mover.stderr) == (2, "")
