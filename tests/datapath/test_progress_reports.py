"""When a mover speaks: often enough to be known to be alive."""

from datetime import timedelta

from tidegate.datapath.progress import Progress
from tidegate.testing.clock import ManualClock


async def test_work_that_counts_nothing_says_now_and_then_that_it_is_alive():
    said, clock = [], ManualClock()
    progress = Progress(said.append, clock)
    progress.enter("scanning")
    for _ in range(60):
        await clock.advance(timedelta(seconds=1))
        for _ in range(100):
            progress.alive()

    assert [report.progress.stage for report in said] == ["scanning"] * 5
