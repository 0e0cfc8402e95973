"""Every write has one owner: the API and people write specs, controllers write statuses."""

import ast
from pathlib import Path

import pytest

SOURCES = Path(__file__).resolve().parents[2] / "src" / "tidegate"

# A system restore puts back the definitions of an archive because a person asked for exactly that.
PUTS_SPECS_BACK = {"controllers/system/restore.py"}


def calls(tree, method):
    """The calls of this method of a store."""
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == method
        and ast.unparse(node.func.value).split(".")[-1] == "store"
    ]


def files(layer):
    return sorted((SOURCES / layer).rglob("*.py"))


def name_of(path):
    return str(path.relative_to(SOURCES))


def changes_metadata_only(call):
    """`store.update(x.with_metadata(...))`, where x is a resource as it was read."""
    (written,) = call.args
    changed = isinstance(written, ast.Call) and isinstance(written.func, ast.Attribute)
    return changed and written.func.attr == "with_metadata" and isinstance(written.func.value, ast.Name)


@pytest.mark.parametrize("path", files("api"), ids=name_of)
def test_the_api_writes_no_status(path):
    assert "update_status" not in path.read_text()


@pytest.mark.parametrize("path", files("controllers"), ids=name_of)
def test_a_controller_changes_no_spec(path):
    updates = calls(ast.parse(path.read_text()), "update")
    specs = [ast.unparse(call) for call in updates if not changes_metadata_only(call)]

    assert bool(specs) == (name_of(path) in PUTS_SPECS_BACK), specs


@pytest.mark.parametrize(
    ("code", "allowed"),
    [
        ("self.store.update(one.with_metadata(labels={}))", True),
        ("self.store.update(one.with_spec(priority=1))", False),
        ("self.store.update(one.with_spec(priority=1).with_metadata(labels={}))", False),
        ("store.update(changed)", False),
    ],
)
def test_the_rule_sees_a_change_of_a_spec(code, *, allowed):
    (call,) = calls(ast.parse(code), "update")

    assert changes_metadata_only(call) is allowed
