"""Choosing nodes by their labels, in the shape and with the meaning of Kubernetes' label selectors."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Self

from pydantic import Field, field_validator, model_validator

from tidegate.model.frozen import Model
from tidegate.model.labels import Operator, Requirement, Selector, check_labels
from tidegate.model.resource import Labels


class ExpressionOperator(StrEnum):
    """What Kubernetes' label selectors know. Node affinity also has Gt and Lt; selectors have not."""

    IN = "In"
    NOT_IN = "NotIn"
    EXISTS = "Exists"
    DOES_NOT_EXIST = "DoesNotExist"


_MEANING = {
    ExpressionOperator.IN: Operator.IN,
    ExpressionOperator.NOT_IN: Operator.NOT_IN,
    ExpressionOperator.EXISTS: Operator.EXISTS,
    ExpressionOperator.DOES_NOT_EXIST: Operator.NOT_EXISTS,
}
_WORD = {meaning: word for word, meaning in _MEANING.items()}
_TAKES_VALUES = frozenset({ExpressionOperator.IN, ExpressionOperator.NOT_IN})


class MatchExpression(Model):
    """One requirement; NotIn also holds for nodes without the key."""

    key: str
    operator: ExpressionOperator
    values: tuple[str, ...] = ()

    @field_validator("key")
    @classmethod
    def _is_a_label_key(cls, key: str) -> str:
        check_labels({key: ""})
        return key

    @field_validator("values")
    @classmethod
    def _are_label_values(cls, values: tuple[str, ...]) -> tuple[str, ...]:
        for value in values:
            check_labels({"value": value})
        return values

    @model_validator(mode="after")
    def _values_fit_the_operator(self) -> Self:
        if self.operator in _TAKES_VALUES and not self.values:
            raise ValueError(f"{self.operator} needs at least one of values")
        if self.operator not in _TAKES_VALUES and self.values:
            raise ValueError(f"{self.operator} takes no values; remove them")
        return self

    @property
    def requirement(self) -> Requirement:
        """The same as the grammar of kubectl has it."""
        return Requirement(self.key, _MEANING[self.operator], self.values)


class NodeSelector(Model):
    """Nodes that carry all of these labels and fulfil all of these expressions. Empty: every node."""

    match_labels: Labels = Field(default_factory=dict)
    match_expressions: tuple[MatchExpression, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether a node with these labels is chosen."""
        return self._selector.holds_for(labels)

    @property
    def text(self) -> str:
        """As `-l` would have it, such as `disk=slow,zone in (a,b),!old`; `every node` when empty."""
        return ",".join(map(_term, self._selector.requirements)) or "every node"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read what `text` writes; raises ValueError with the term that is wrong."""
        labels: dict[str, str] = {}
        expressions: list[MatchExpression] = []
        for term in Selector.parse(text).requirements:
            for value in term.values:
                check_labels({term.key: value})
            if term.operator is Operator.IN and len(term.values) == 1 and term.key not in labels:
                labels[term.key] = term.values[0]
            else:
                operator = _WORD[term.operator]
                expressions.append(MatchExpression(key=term.key, operator=operator, values=term.values))
        return cls(match_labels=labels, match_expressions=tuple(expressions))

    @property
    def _selector(self) -> Selector:
        expressions = tuple(expression.requirement for expression in self.match_expressions)
        return Selector((*Selector.matching(self.match_labels).requirements, *expressions))


def _term(term: Requirement) -> str:
    match term.operator:
        case Operator.EXISTS:
            return term.key
        case Operator.NOT_EXISTS:
            return f"!{term.key}"
    if len(term.values) == 1:
        return f"{term.key}{'=' if term.operator is Operator.IN else '!='}{term.values[0]}"
    return f"{term.key} {term.operator} ({','.join(term.values)})"
