"""The mirror of the queue waits for its own writes, in whatever order write and news come back."""

from tidegate.controllers.queue_mirror import QueueMirror
from tidegate.ports.resource_store import Change, Event
from tidegate.testing.builders import a_backup


def test_news_that_come_before_the_answer_to_the_write_leave_nothing_to_wait_for():
    mirror = QueueMirror()
    before = a_backup("b").with_metadata(resource_version="1")
    after = before.with_metadata(resource_version="2")

    mirror.hear(Event(Change.MODIFIED, after, "2"))
    mirror.wrote(before, after)

    assert mirror.up_to_date
    mirror.wrote(after, after.with_metadata(resource_version="3"))
    assert not mirror.up_to_date
