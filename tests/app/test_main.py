"""Where every process of Tidegate begins."""

from datetime import timedelta

import pytest

from tidegate.app.machine.clock import LAST_DAY
from tidegate.app.main import main
from tidegate.cli.exit_codes import ExitCode


@pytest.mark.parametrize("later", [timedelta(), timedelta(days=300_000)])
def test_a_clock_beyond_what_python_counts_is_one_sentence(capsys, later):
    with pytest.raises(SystemExit) as ended:
        main(lambda: LAST_DAY + later)

    assert ended.value.code == ExitCode.REJECTED
    assert "the clock of this machine says that it is 2262-04-11 or later" in capsys.readouterr().err
