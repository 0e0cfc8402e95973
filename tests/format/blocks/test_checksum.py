"""Names of blocks: the same whether several are made side by side or one by one, by C or by hashlib."""

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.format.blocks.checksum import _lanes, checksum, checksums, side_by_side

ROOT = Path(__file__).parents[3]
LANES = pytest.mark.skipif(side_by_side() == 1, reason="built without C, or the processor has no AVX-512")
# Around the ends of SHA-512's chunks of 128 bytes and of its padding, where mistakes would be.
LENGTHS = st.one_of(st.integers(0, 600), st.sampled_from([111, 112, 127, 128, 239, 240, 2**16, 2**21]))


@given(length=LENGTHS, count=st.integers(0, 20), seed=st.binary(min_size=1, max_size=16))
def test_many_get_the_names_that_each_would_get_alone(length, count, seed):
    contents = [hashlib.shake_128(seed + bytes([number])).digest(length) for number in range(count)]

    assert checksums(contents) == [hashlib.sha512(content).hexdigest()[:64] for content in contents]


@LANES
@given(length=LENGTHS, count=st.integers(1, 8), seed=st.binary(min_size=1, max_size=16))
def test_digests_side_by_side_are_those_of_hashlib(length, count, seed):
    from tidegate.format.blocks import _sha512_lanes

    contents = [hashlib.shake_128(seed + bytes([number])).digest(length) for number in range(count)]

    assert _sha512_lanes.digests(contents) == b"".join(hashlib.sha512(content).digest() for content in contents)


@LANES
@pytest.mark.parametrize(
    ("wrong", "error"),
    [([], ValueError), ([b""] * 9, ValueError), ([b"a", b"bc"], ValueError), ((b"a",), TypeError), (["a"], TypeError)],
)
def test_what_cannot_be_done_side_by_side_is_refused(wrong, error):
    from tidegate.format.blocks import _sha512_lanes

    with pytest.raises(error):
        _sha512_lanes.digests(wrong)


@pytest.fixture
def interpreter_that_is_never_taken_away():
    """A thread that does not let the interpreter go by itself keeps it to its end."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    yield
    sys.setswitchinterval(before)


@LANES
@pytest.mark.usefixtures("interpreter_that_is_never_taken_away")
def test_others_go_on_while_digests_are_made():
    from tidegate.format.blocks import _sha512_lanes

    def seen_under_way():
        began, done = threading.Event(), threading.Event()

        def digest():
            began.set()
            _sha512_lanes.digests([bytes(2**24)] * 8)
            done.set()

        thread = threading.Thread(target=digest)
        thread.start()
        began.wait()
        under_way = not done.is_set()
        thread.join()
        return under_way

    # On a busy machine this thread may wake up late; if the interpreter were kept it would be too late every time.
    assert any(seen_under_way() for _ in range(20))


def test_a_wrong_digest_is_noticed_before_a_block_is_named_by_it(tmp_path):
    (tmp_path / "wrong_lanes.py").write_text("LANES = 8\ndef digests(messages): return bytes(64 * len(messages))\n")
    script = (
        "import sys, wrong_lanes; sys.modules['tidegate.format.blocks._sha512_lanes'] = wrong_lanes\n"
        "import tidegate.format.blocks; tidegate.format.blocks._sha512_lanes = wrong_lanes\n"
        "from tidegate.format.blocks.checksum import checksums, side_by_side\n"
        "print(side_by_side(), *checksums([b'a'] * 8))"
    )
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    told = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True, env=environment)

    assert told.stdout.split() == ["1", *[checksum(b"a")] * 8]


def test_one_by_one_is_what_is_left_without_it():
    script = (
        "import sys; sys.modules['tidegate.format.blocks._sha512_lanes'] = None\n"
        "from tidegate.format.blocks.checksum import checksums, side_by_side\n"
        "print(side_by_side(), *checksums([b'a'] * 8))"
    )
    told = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)

    assert told.stdout.split() == ["1", *[checksum(b"a")] * 8]


@pytest.mark.skipif(not shutil.which("cc"), reason="needs a C compiler")
@pytest.mark.skipif(platform.machine() != "x86_64", reason="is built for x86-64 only")
@pytest.mark.parametrize(("pure", "tag"), [("", "cp311-abi3-"), ("1", "py3-none-any")])
def test_a_wheel_says_what_it_can_be_installed_on(tmp_path, pure, tag):
    copy = tmp_path / "copy"
    for part in ("src/tidegate/__init__.py", "src/tidegate/format", "README.md", "LICENSE"):
        place = copy / part
        place.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (ROOT / part).is_dir() else shutil.copy)(ROOT / part, place)
    for part in ("pyproject.toml", "hatch_build.py"):
        shutil.copy(ROOT / part, copy)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", tmp_path]
    subprocess.run([*command, copy], check=True, env=os.environ | {"TIDEGATE_PURE": pure})

    [wheel] = tmp_path.glob("*.whl")
    assert tag in wheel.name


def test_where_this_is_tested_it_is_built():
    """Where there is a compiler and AVX-512 all tests run with it; a build that fails in silence would go unseen."""
    cpu = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    if not shutil.which("cc") or "avx512bw" not in cpu or os.environ.get("TIDEGATE_PURE"):
        pytest.skip("no compiler, no AVX-512, or not wanted")

    assert _lanes().count == 8
