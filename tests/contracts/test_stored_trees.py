"""Every implementation of StoredTrees and OpenedFile keeps the same promise."""

import pytest

from tidegate.app.machine.clock import SystemClock
from tidegate.app.machine.store_probe import ThreadedStoreProbe
from tidegate.app.machine.stored_trees import KeptTrees, ReadFile
from tidegate.errors import DamageError, NotFound, Refused, StoreBusy, StoreUnavailable, WrongKey
from tidegate.model.transfers.mover_job import TargetAccess
from tidegate.model.volumes.volume_kind import VolumeKind
from tidegate.objects.open import open_store
from tidegate.ports.stored_trees import NoTrees, OpenedFile, StoredTrees, TreePlace
from tidegate.testing.mover_bench import MoverBench

KEY = "00" * 32
LARGE = b"a" * 2_500_000 + b"b" * 2_500_000


def in_stores():
    return KeptTrees(ThreadedStoreProbe(), SystemClock())


IMPLEMENTATIONS: dict[type[StoredTrees], object] = {KeptTrees: in_stores, NoTrees: NoTrees}
FILES: dict[type[OpenedFile], type[StoredTrees]] = {ReadFile: KeptTrees}


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    root = tmp_path_factory.mktemp("trees")
    (root / "store").mkdir()
    data = root / "data"
    (data / "etc").mkdir(parents=True)
    (data / "large").write_bytes(LARGE)
    for name in ("a", "b", "c"):
        (data / name).write_text(name)
    bench = MoverBench(open_store(TargetAccess(url=f"file://{root}/store")), volume="shop.files", key=KEY)
    bench.upload(data, "backup-1", VolumeKind.DIRECTORY)
    (root / "image").write_bytes(b"image")
    bench.upload(root / "image", "image-1", VolumeKind.IMAGE)
    return root


def place(root, *, backup="backup-1", key=KEY):
    credentials = {"TIDEGATE_ENCRYPTION_KEY": key}
    access = TargetAccess(url=f"file://{root}/store", credentials=credentials)
    return TreePlace(access, "shop.files", backup)


@pytest.fixture(params=[KeptTrees], ids=lambda kind: kind.__name__)
def trees(request):
    trees = IMPLEMENTATIONS[request.param]()
    yield trees
    trees.close()


async def names(trees, where, path="."):
    found, marker = [], ""
    while marker is not None:
        page = await trees.directory(where, path, marker=marker, limit=2)
        assert len(page.entries) <= 2
        found += [entry.path.rpartition("/")[2] for entry in page.entries]
        marker = page.next
    return found


async def test_a_directory_is_listed_page_by_page_directories_first(trees, root):
    assert await names(trees, place(root)) == ["etc", "a", "b", "c", "large"]
    assert await names(trees, place(root), "etc") == []


@pytest.mark.parametrize("files", FILES, ids=lambda kind: kind.__name__)
async def test_a_file_is_read_whole_or_in_part_and_closed_twice(files, root):
    trees = IMPLEMENTATIONS[FILES[files]]()
    whole = await trees.open_file(place(root), "large")
    part = await trees.open_file(place(root), "large", part=lambda size: range(size - 5, size))

    assert isinstance(whole, files)
    assert (b"".join(whole), whole.part, whole.entry.size) == (LARGE, None, len(LARGE))
    assert (b"".join(part), part.part) == (b"bbbbb", range(len(LARGE) - 5, len(LARGE)))
    for one in (whole, part):
        one.close()
        one.close()
    trees.close()


async def test_a_file_that_is_closed_makes_room_for_another(trees, root):
    async def open_many():
        while True:
            opened.append(await trees.open_file(place(root), "a"))

    opened = []
    with pytest.raises(StoreBusy):
        await open_many()
    opened.pop().close()

    opened.append(await trees.open_file(place(root), "a"))
    for one in opened:
        one.close()


@pytest.mark.parametrize(("path", "error"), [("nowhere", NotFound), ("etc", Refused), ("../../etc/passwd", NotFound)])
async def test_what_is_no_file_is_not_opened(trees, root, path, error):
    with pytest.raises(error):
        await trees.open_file(place(root), path)


ERRORS = [
    ({"backup": "backup-9"}, NotFound),
    ({"backup": "image-1"}, Refused),
    ({"key": "11" * 32}, WrongKey),
]


@pytest.mark.parametrize(("where", "error"), ERRORS)
async def test_what_is_no_tree_or_not_readable_is_told_apart(trees, root, where, error):
    with pytest.raises(error):
        await trees.directory(place(root, **where), "", marker="", limit=10)


@pytest.mark.parametrize("kind", IMPLEMENTATIONS, ids=lambda kind: kind.__name__)
async def test_a_store_that_is_out_of_reach_is_unavailable_and_not_empty(kind, tmp_path):
    trees = IMPLEMENTATIONS[kind]()

    with pytest.raises(StoreUnavailable):
        await trees.directory(place(tmp_path), "", marker="", limit=10)
    with pytest.raises(StoreUnavailable):
        await trees.open_file(place(tmp_path), "a")


# The last one: what it breaks stays broken.
async def test_a_damaged_block_is_an_error_when_the_file_is_opened(trees, root):
    await names(trees, place(root))
    for block in (root / "store").rglob("*.blk"):
        block.write_bytes(b"rot")

    with pytest.raises(DamageError):
        await trees.open_file(place(root), "large")
