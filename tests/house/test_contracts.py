"""Every port has a contract suite, and every class that implements a port is in it.

A suite is in `tests/contracts/`. A table says what it tests: `NAME: dict[type[Port], ...] = {Class: ...}`.
"""

import ast
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PORTS = ROOT / "src" / "tidegate" / "ports"
PROMISE_NOTHING = {
    "NoClock": "refuses everything: it stands where only help is wanted",
    "DeviceSink": "writes in place, which its docstring says; tests/datapath/test_devices.py holds it to the rest",
}


def signature(function):
    """What a caller can pass: names of parameters without the mark of those that are not used."""
    given = function.args
    return tuple(one.arg.lstrip("_") for one in (*given.posonlyargs, *given.args[1:], *given.kwonlyargs))


class Shape:
    """The methods of a class with their parameters, and its other public names."""

    def __init__(self, node):
        self.bases = [base for base in map(_name, node.bases) if base]
        self.methods, self.names = {}, set()
        for part in ast.walk(node):
            if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store) and _name(part.value) == "self":
                self.names.add(part.attr)
        for part in node.body:
            if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
                self.names.add(part.target.id)
            if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef):
                is_property = any(_name(one) == "property" for one in part.decorator_list)
                if is_property:
                    self.names.add(part.name)
                else:
                    self.methods[part.name] = signature(part)

    def with_bases(self, known):
        methods, names = dict(self.methods), set(self.names)
        for base in self.bases:
            if base in known:
                inherited, more = known[base].with_bases(known)
                methods = {**inherited, **methods}
                names |= more
        return methods, names


def _name(node):
    if isinstance(node, ast.Subscript):
        return _name(node.value)
    return node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")


def classes(directory):
    return {
        node.name: Shape(node)
        for path in sorted(directory.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ClassDef)
    }


@cache
def everything():
    return classes(ROOT / "src" / "tidegate")


PROTOCOLS = {name: shape for name, shape in classes(PORTS).items() if "Protocol" in shape.bases}


def implementations(port):
    """The classes that have all of its methods, with its parameters, and all of its properties."""
    promised = PROTOCOLS[port]
    for name, shape in everything().items():
        methods, names = shape.with_bases(everything())
        keeps = all(_takes(methods.get(method), asked) for method, asked in promised.methods.items())
        if keeps and promised.names <= names | set(methods) and "Protocol" not in shape.bases:
            yield name


def _takes(given, asked):
    """Options that a wrapper passes on as `**options` are not in its own list of parameters."""
    return given is not None and (given == asked or (given != () and given == asked[: len(given)]))


@cache
def suites():
    """By port, the classes that its suites test."""
    found = {}
    for path in (ROOT / "tests" / "contracts").rglob("*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.AnnAssign) and isinstance(node.value, ast.Dict) and (port := _port_of(node)):
                found.setdefault(port, set()).update(map(_name, node.value.keys))
    return found


def _port_of(table):
    match table.annotation:
        case ast.Subscript(ast.Name("dict"), ast.Tuple([ast.Subscript(ast.Name("type"), ast.Name(port)), *_])) if (
            port in PROTOCOLS
        ):
            return port
    return ""


@pytest.mark.parametrize("port", PROTOCOLS)
def test_every_port_has_a_contract_suite(port):
    assert port in suites(), f"no table of tests/contracts is annotated dict[type[{port}], ...]"


@pytest.mark.parametrize("port", PROTOCOLS)
def test_every_implementation_of_a_port_is_in_its_suite(port):
    missing = set(implementations(port)) - suites().get(port, set()) - set(PROMISE_NOTHING)

    assert missing == set(), f"add them to the table of {port} in tests/contracts"


def test_the_exceptions_are_classes_that_are_there():
    assert set(PROMISE_NOTHING) <= set(everything())
