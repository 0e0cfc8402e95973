"""The house rules that no linter knows."""

import ast
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "src" / "tidegate").rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))
PACKAGES = [path for path in SOURCES if path.name == "__init__.py"]


def lines(path):
    return path.read_text().count("\n")


@pytest.mark.parametrize("path", PACKAGES, ids=lambda path: path.parent.name)
def test_every_room_says_what_lives_there(path):
    docstring = ast.get_docstring(ast.parse(path.read_text()))

    assert docstring
    assert len(docstring) > 60


def test_no_file_is_long_and_nearly_all_are_short():
    lengths = sorted(lines(path) for path in SOURCES)

    assert lengths[-1] <= 450
    assert lengths[len(lengths) * 9 // 10] <= 300
    assert max(lines(path) for path in TESTS) <= 500


def test_no_file_has_a_name_that_says_nothing():
    empty_words = {"utils", "util", "helpers", "common", "manager", "base", "misc"}

    assert [path for path in SOURCES if path.stem in empty_words] == []


BANNED_IN_TESTS = [
    (r"unittest\.mock|from unittest import mock|monkeypatch|mocker", "no mock library"),
    (r"time\.sleep\(", "tests never sleep"),
    (r"asyncio\.sleep\((?!0\))", "tests never sleep"),
]


@pytest.mark.parametrize(("pattern", "rule"), BANNED_IN_TESTS)
def test_tests_keep_the_rules(pattern, rule):
    others = [path for path in TESTS if path != Path(__file__).resolve()]

    assert [path.name for path in others if re.search(pattern, path.read_text())] == [], rule


def test_every_test_is_named_by_a_sentence():
    names = [
        node.name
        for path in TESTS
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
    ]

    assert [name for name in names if name.count("_") < 3] == []


def test_lock_files_carry_hashes_and_no_addresses():
    for name in ("requirements.lock", "requirements-dev.lock"):
        text = (ROOT / name).read_text()
        assert "://" not in text
        assert len(re.findall(r"^[a-z0-9][\w.-]*==", text, re.MULTILINE)) <= text.count("--hash=sha256:")


def test_the_lock_file_of_the_page_carries_hashes_and_no_download_addresses():
    packages = json.loads((ROOT / "ui" / "package-lock.json").read_text())["packages"]

    installed = {path: package for path, package in packages.items() if path}
    assert [path for path, package in installed.items() if "resolved" in package] == []
    assert [path for path, package in installed.items() if "integrity" not in package] == []


def test_the_base_install_has_nothing_of_a_cluster():
    text = (ROOT / "requirements.lock").read_text()

    assert not re.search(r"^(kubernetes|kopf|aiohttp|apprise|opentelemetry-sdk)\b", text, re.MULTILINE)


def test_every_link_between_documents_leads_somewhere():
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / link).exists(), f"{page.name}: {link}"
