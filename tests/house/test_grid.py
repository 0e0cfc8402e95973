"""The grid of docs/architecture.md: layers divided by the same subjects, in the sources and in their tests."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES, TESTS = ROOT / "src" / "tidegate", ROOT / "tests"
PAGE = (ROOT / "docs" / "architecture.md").read_text()
MOST_FILES = 25


def packages(layer):
    return {path.parent.name for path in (SOURCES / layer).glob("*/__init__.py")}


def table(first_column):
    """The rows of the table that begins with this column, each as a dict by column."""
    lines = PAGE[PAGE.index(f"| {first_column} |") :].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[: lines.index("")]]
    return [dict(zip(rows[0], row, strict=True)) for row in rows[2:]]


SUBJECTS = table("subject")
LAYERS = [column for column in SUBJECTS[0] if column not in {"subject", "is about"}]
TOOLS = {
    row["layer"].strip("`/"): set(re.findall(r"`(\w+)`", re.sub(r"\([^)]*\)", "", row["tools"])))
    for row in table("layer | tools")
}


def test_there_are_several_layers_and_subjects():
    assert len(LAYERS) == 5
    assert len(SUBJECTS) > 10


@pytest.mark.parametrize("layer", LAYERS)
def test_a_layer_has_the_subjects_and_tools_of_the_page_and_no_other(layer):
    subjects = {row["subject"].strip("`") for row in SUBJECTS if row[layer] == "•"}

    assert packages(layer) == subjects | TOOLS.get(layer, set())


def test_tests_have_the_same_folders_as_the_sources():
    missing = [
        str(path.relative_to(TESTS))
        for path in TESTS.glob("*/*/")
        if (SOURCES / path.parent.name).is_dir()
        and any(path.glob("test_*.py"))
        and path.parent.name not in {"journeys", "contracts", "page"}
        and not (SOURCES / path.relative_to(TESTS)).is_dir()
    ]

    assert missing == []


@pytest.mark.parametrize("root", [SOURCES, TESTS], ids=lambda root: root.name)
def test_no_folder_holds_more_files_than_a_person_takes_in_at_a_look(root):
    counts = {path: len(list(path.glob("*.py"))) for path in [root, *root.rglob("*/")]}

    assert len(counts) > 20
    assert {str(path.relative_to(ROOT)) for path, count in counts.items() if count > MOST_FILES + 1} == set()
