"""A saved corpus for fuzzing: files that a decoder has met, from which new ones are made, and into which finds go."""

from dataclasses import dataclass
from pathlib import Path

from hypothesis import strategies as st

from tidegate.format.blocks.checksum import checksum

# What parsers stumble over.
_PIECES = (
    *(b"", b"null", b"{}", b"[]", b'""', b"-1", b"-0", b"1e999", b"1.5", b"9" * 30, b"true", b"NaN", b'"../.."'),
    *(b"\\u0000", b"\\ud800", b"\xff", b"\xed\xa0\x80", b"\xc0\xaf", b"\x00", b"{", b"}", b'"', b"\\", b"\n", b","),
    *(b"9223372036854775807", b"9223372036854775808", b"-9223372036854775808", b"18446744073709551616"),
    *(b"0001-01-01T00:00:00Z", b"9999-12-31T23:59:59.999999999+14:00", b"2026-02-30T25:61:61Z", b'"path":"a/../b"'),
)
_MOST_CHANGES = 5


@dataclass(frozen=True)
class Corpus:
    """The files of one directory, in the order of their names."""

    directory: Path

    def bodies(self) -> list[bytes]:
        """What is in the files; raises where there are none, because a fuzzer without a corpus finds nothing."""
        bodies = [file.read_bytes() for file in self.files()]
        if not bodies:
            raise AssertionError(f"the corpus {self.directory} is empty")
        return bodies

    def files(self) -> list[Path]:
        """All of them."""
        return sorted(file for file in self.directory.iterdir() if file.is_file())

    def save(self, body: bytes) -> Path:
        """Keep what broke a decoder: from now on every run tries it first."""
        file = self.directory / f"found-{checksum(body)[:12]}"
        file.write_bytes(body)
        return file


@st.composite
def mutants(draw: st.DrawFn, bodies: list[bytes]) -> bytes:
    """A file of the corpus in which a few places are cut, doubled, overwritten, flipped or taken from another file."""
    body = draw(st.sampled_from(bodies))
    for _ in range(draw(st.integers(1, _MOST_CHANGES))):
        begin, end = sorted((draw(st.integers(0, len(body))), draw(st.integers(0, len(body)))))
        if draw(st.booleans()):  # most of what is found is found by small changes
            end = min(end, begin + draw(st.integers(0, 4)))
        match draw(st.integers(0, 5)):
            case 0:
                middle = b""
            case 1:
                middle = body[begin:end] * 2
            case 2:
                middle = draw(st.binary(max_size=8))
            case 3:
                flip = draw(st.integers(1, 255))
                middle = bytes(byte ^ flip for byte in body[begin : begin + 1]) + body[begin + 1 : end]
                end = max(end, begin + 1)
            case 4:
                other = draw(st.sampled_from(bodies))
                start = draw(st.integers(0, len(other)))
                middle = other[start : start + draw(st.integers(0, 64))]
            case _:
                middle = draw(st.sampled_from(_PIECES))
        body = body[:begin] + middle + body[end:]
    return body
