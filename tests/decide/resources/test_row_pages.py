"""Rows in pages: whatever changes, what is read back is what was written, and few pages are new."""

from hypothesis import given
from hypothesis import strategies as st

from tidegate.decide.resources.row_pages import LONGEST_PAGE, page_names, parse_rows, plan_pages, with_rows
from tidegate.model.backups.backup import Backup, BackupStatus
from tidegate.model.backups.item_block import BlockPhase, BlockProgress
from tidegate.testing.resources.builders import a_backup


class Pages:
    """What a store would keep of one backup: its status without rows, and the pages."""

    def __init__(self):
        self.backup = a_backup("b")
        self.pages = {}
        self.rows = {}
        self.added = self.replaced = ()

    def write(self, **status):
        self.backup = self.backup.with_metadata(resource_version=str(len(self.pages)) + self.backup.name)
        plan = plan_pages(self.backup.with_status(**status), self.rows)
        self.pages |= {page.name: page for page in plan.added}
        self.rows |= {kept.range: kept.rows for kept in plan.ranges}
        self.added, self.replaced = plan.added, plan.replaced
        for name in plan.replaced:
            del self.pages[name]
        self.stored = plan.status
        self.backup = self.backup.replace(status=with_rows(plan.status, self.rows))

    def read(self):
        """From the pages alone."""
        rows = {
            one: parse_rows(BackupStatus, field, "".join(self.pages[name].spec.text for name in one.pages))
            for field, ranges in (self.stored.row_pages or {}).items()
            for one in ranges
        }
        return with_rows(self.stored, rows)


def blocks(count, *, begin=0):
    return tuple(
        BlockProgress(volumes=(f"shop/volume-{n}",), expected_sizes={f"shop/volume-{n}": n})
        for n in range(begin, begin + count)
    )


def test_a_few_rows_stay_in_their_field():
    pages = Pages()

    pages.write(blocks=blocks(100))

    assert pages.stored.blocks == blocks(100)
    assert pages.stored.row_pages is None
    assert not pages.pages


def test_many_rows_go_to_pages_that_the_resource_owns_and_come_back():
    pages = Pages()

    pages.write(blocks=blocks(10_000), unmatched=("one",))

    assert pages.stored.blocks == ()
    assert pages.read().blocks == blocks(10_000)
    assert pages.read().unmatched == ("one",)
    assert all(len(page.spec.text) <= LONGEST_PAGE for page in pages.pages.values())
    assert {page.metadata.owner_references for page in pages.added} == {(pages.backup.as_owner(),)}


def test_the_same_rows_again_change_nothing():
    pages = Pages()
    pages.write(blocks=blocks(10_000))
    before = pages.stored

    pages.write(blocks=blocks(10_000))

    assert pages.stored == before
    assert (pages.added, pages.replaced) == ((), ())


def test_a_row_that_changes_replaces_one_page():
    pages = Pages()
    pages.write(blocks=blocks(10_000))
    moving = blocks(10_000)[5_000].replace(phase=BlockPhase.MOVING)

    pages.write(blocks=(*blocks(5_000), moving, *blocks(4_999, begin=5_001)))

    assert pages.read().blocks[5_000] == moving
    assert (len(pages.added), len(pages.replaced)) == (1, 1)


def test_a_row_that_goes_replaces_one_page():
    pages = Pages()
    pages.write(blocks=blocks(10_000))

    pages.write(blocks=(*blocks(5_000), *blocks(4_999, begin=5_001)))

    assert len(pages.read().blocks) == 9_999
    assert (len(pages.added), len(pages.replaced)) == (1, 1)


def test_rows_that_come_one_by_one_fill_pages():
    pages = Pages()
    names = tuple(f"shop/a-volume-with-quite-a-long-name-for-a-volume-{n:04}" for n in range(2_000))

    for count in range(1, len(names) + 1):
        pages.write(gone_volumes=names[:count])
        assert len(pages.added) <= 1

    assert pages.read().gone_volumes == names
    assert len(pages.pages) <= 2 + 2 * sum(map(len, names)) // LONGEST_PAGE


def test_a_row_longer_than_a_page_is_spread_over_pages():
    pages = Pages()
    block = BlockProgress(volumes=tuple(f"shop/volume-{n}" for n in range(10_000)))

    pages.write(blocks=(block,))

    assert len(pages.pages) > 4
    assert all(len(page.spec.text) <= LONGEST_PAGE for page in pages.pages.values())
    assert pages.read().blocks == (block,)


def test_what_is_over_leaves_no_page():
    pages = Pages()
    pages.write(blocks=blocks(10_000))

    pages.write(blocks=())

    assert pages.stored.row_pages is None
    assert not pages.pages


EDITS = st.tuples(st.sampled_from(["change", "remove", "insert", "append"]), st.integers(0, 10**6), st.integers(1, 40))


@given(st.integers(0, 60), st.lists(EDITS, max_size=12))
def test_whatever_is_edited_is_read_back_and_no_page_is_left_over(count, edits):
    pages = Pages()
    rows = [f"{n}".zfill(1_500) for n in range(count)]
    pages.write(gone_volumes=tuple(rows))
    for number, (edit, place, many) in enumerate(edits):
        at = place % (len(rows) + 1)
        new = [f"{number}-{n}".zfill(1_500) for n in range(many)]
        if edit == "change":
            rows[at : at + many] = new[: len(rows[at : at + many])]
        elif edit == "remove":
            del rows[at : at + many]
        elif edit == "insert":
            rows[at:at] = new
        else:
            rows += new
        pages.write(gone_volumes=tuple(rows))

        assert pages.read().gone_volumes == tuple(rows)
        assert page_names(pages.stored) == set(pages.pages)


def test_the_wire_form_does_not_name_pages():
    pages = Pages()
    pages.write(blocks=blocks(10_000))

    wire = pages.backup.to_wire()

    assert "rowPages" not in wire["status"]
    assert "rowPages" not in str(Backup.model_json_schema())
