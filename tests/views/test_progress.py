"""How far things are, in words."""

import pytest

from tidegate.model.backups.byte_progress import ByteProgress
from tidegate.testing.resources.builders import THEN
from tidegate.views.progress import progress_text, speed_text
from tidegate.views.reader import Reader

READER = Reader(now=THEN)


@pytest.mark.parametrize(
    ("progress", "text", "speed"),
    [
        (ByteProgress(), "", ""),
        (ByteProgress(done=2048), "2.0 KiB", ""),
        (ByteProgress(done=0, total=0), "0 B of 0 B", ""),
        (ByteProgress(512, 1024, 256.0), "512 B of 1.0 KiB (50 %)", "256 B/s, 2s left"),
        (ByteProgress(1024, 1024, 256.0), "1.0 KiB of 1.0 KiB (99 %)", "256 B/s"),
        (ByteProgress(1024, 1024, final=True), "1.0 KiB of 1.0 KiB (100 %)", ""),
        (ByteProgress(512, None, 256.0), "512 B", "256 B/s"),
        (ByteProgress(512, 1024, unmeasured=2), "512 B of at least 1.0 KiB, 2 volumes not measured yet", ""),
        (ByteProgress(0, 0, unmeasured=1), "1 volume not measured yet", ""),
    ],
)
def test_only_what_is_known_is_told(progress, text, speed):
    assert progress_text(progress, READER) == text
    assert speed_text(progress, READER) == speed
