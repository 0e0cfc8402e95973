"""Labels and the selectors over them, in kubectl's grammar."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

_NAME = r"[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
_KEY = re.compile(rf"(?:[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?/)?{_NAME}")
_VALUE = re.compile(rf"(?:{_NAME})?")
_SET = re.compile(r"(?P<key>\S+)\s+(?P<operator>in|notin)\s*\(\s*(?P<values>[^()]*?)\s*\)")


def check_labels(labels: Mapping[str, str]) -> None:
    """Refuse what Kubernetes would refuse, with the key that is wrong."""
    for key, value in labels.items():
        _check_key(key)
        if not _VALUE.fullmatch(value):
            raise ValueError(f"label {key}={value!r}: a value has at most 63 letters, digits, '-', '_' or '.'")


def _check_key(key: str) -> str:
    if not _KEY.fullmatch(key):
        raise ValueError(f"{key!r} is not a label key: write for example app or example.com/app")
    return key


class Operator(StrEnum):
    """How one requirement compares."""

    IN = "in"
    NOT_IN = "notin"
    EXISTS = "exists"
    NOT_EXISTS = "!"


@dataclass(frozen=True)
class Requirement:
    """One term of a selector. As in Kubernetes, `notin` also holds for objects without the key."""

    key: str
    operator: Operator
    values: tuple[str, ...] = ()

    def holds_for(self, labels: Mapping[str, str]) -> bool:
        """Whether an object with these labels satisfies the term."""
        value = labels.get(self.key)
        match self.operator:
            case Operator.IN:
                return value in self.values
            case Operator.NOT_IN:
                return value not in self.values
            case Operator.EXISTS:
                return value is not None
            case Operator.NOT_EXISTS:
                return value is None


@dataclass(frozen=True)
class Selector:
    """All requirements must hold; none means everything."""

    requirements: tuple[Requirement, ...] = ()

    def holds_for(self, labels: Mapping[str, str]) -> bool:
        """Whether an object with these labels is selected."""
        return all(requirement.holds_for(labels) for requirement in self.requirements)

    @classmethod
    def equal(cls, **labels: str) -> "Selector":
        """Select by exact labels, for keys that are Python names."""
        return cls.matching(labels)

    @classmethod
    def matching(cls, labels: Mapping[str, str]) -> "Selector":
        """Select by exact labels."""
        return cls(tuple(Requirement(key, Operator.IN, (value,)) for key, value in labels.items()))

    @classmethod
    def parse(cls, text: str) -> "Selector":
        """Read `app=shop,tier!=cache,env in (a, b),!old`; raises ValueError with the term that is wrong."""
        return cls(tuple(_parse_term(term) for term in _split_terms(text)))


EVERYTHING = Selector()


def _split_terms(text: str) -> list[str]:
    """Split at commas outside of parentheses."""
    terms = re.split(r",(?![^()]*\))", text)
    return [term.strip() for term in terms if term.strip()]


def _parse_term(term: str) -> Requirement:
    if listed := _SET.fullmatch(term):
        values = tuple(value.strip() for value in listed["values"].split(",") if value.strip())
        if not values:
            raise ValueError(f"selector term {term!r} has an empty list of values")
        return Requirement(_check_key(listed["key"]), Operator(listed["operator"]), values)
    for sign, operator in (("!=", Operator.NOT_IN), ("==", Operator.IN), ("=", Operator.IN)):
        key, found, value = term.partition(sign)
        if found:
            return Requirement(_check_key(key.strip()), operator, (value.strip(),))
    if term.startswith("!"):
        return Requirement(_check_key(term[1:].strip()), Operator.NOT_EXISTS)
    return Requirement(_check_key(term), Operator.EXISTS)
