"""Parameters that many routes share."""

from typing import Annotated, Any, NamedTuple

from fastapi import Depends, Query

from tidegate.api.reads.catalogue_looks import Cut
from tidegate.errors import InvalidInput
from tidegate.model.labels import Selector
from tidegate.model.resource import Resource
from tidegate.ports.catalogue import LARGEST_PAGE

DryRun = Annotated[bool, Query(alias="dryRun", description="Say what would happen and change nothing.")]
DRY_RUN = "With dryRun: what would be"


async def _cut(
    limit: Annotated[int | None, Query(ge=1, le=LARGEST_PAGE, description="At most so many; absent: all.")] = None,
    marker: Annotated[str, Query(max_length=1024, description="Goes on where the page ended that gave it.")] = "",
) -> Cut:
    return Cut(limit, marker)


CutParameter = Annotated[Cut, Depends(_cut)]


def dry_run_answer(model: object) -> dict[int | str, dict[str, Any]]:
    """Declare the status of a call that changes nothing because the client asked for a dry run."""
    return {200: {"model": model, "description": DRY_RUN}}


class Place(NamedTuple):
    """Which resource a path names."""

    name: str
    namespace: str = ""


def path_of(kind: type[Resource]) -> str:
    """The path of a single resource, as its kind has namespaces or not."""
    return f"/{kind.plural}/{{namespace}}/{{name}}" if kind.namespaced else f"/{kind.plural}/{{name}}"


def place(kind: type[Resource]) -> Any:  # noqa: ANN401  # what Depends returns
    """The parameters in that path."""

    async def in_namespace(namespace: str, name: str) -> Place:
        return Place(name, namespace)

    async def alone(name: str) -> Place:
        return Place(name)

    return Depends(in_namespace if kind.namespaced else alone)


def selector_from(text: str) -> Selector:
    """Read a label selector; a wrong one is the caller's mistake."""
    try:
        return Selector.parse(text)
    except ValueError as error:
        raise InvalidInput(str(error), field="labelSelector") from None
