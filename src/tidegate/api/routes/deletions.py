"""Deletions: what shall go from a store, how far that is, and calling it off."""

from contextlib import suppress

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse
from pydantic import Field

from tidegate.api.collections import PageParameter, page_of
from tidegate.api.problems import refusals
from tidegate.api.reads.presenting import Wire, present
from tidegate.api.security.auth import require_token, services_of
from tidegate.api.services import Services
from tidegate.decide.stores.deletions import retried_now
from tidegate.errors import InvalidInput, NotFound, Refused, StaleVersion
from tidegate.model.frozen import Model
from tidegate.model.labels import Selector
from tidegate.model.stores.deletion import STORE_VOLUME_LABEL, Deletion, store_volume_mark
from tidegate.ports.deletions import Deletions

router = APIRouter(tags=["deletions"], dependencies=[Depends(require_token)])

# The worker of the volume writes statuses at the same time; the second of two writers looks again.
_ATTEMPTS = 5


class DeletionWish(Model):
    """What shall go. Who means everything says so: a forgotten list of names must not cost a volume."""

    target: str = Field(max_length=253)
    volume: str = Field(max_length=253)
    backups: tuple[str, ...] | None = Field(default=None, max_length=10_000)
    whole_volume: bool = Field(default=False, strict=True)


@router.get("/deletions")
async def read_list(
    request: Request,
    wish: PageParameter,
) -> Wire:
    """Those under way and those that ended within a day, by name."""
    services = services_of(request)
    return await page_of(request, Deletion, wish, shapes=lambda page: present(services, page.items))


@router.get("/deletions/{name}", response_model=Deletion, response_model_exclude_none=True)
async def read_one(request: Request, name: str) -> Wire:
    """One of them."""
    return (await services_of(request).store.get(Deletion, name)).to_wire()


@router.post("/deletions", status_code=202, responses={202: {"model": Deletion}, **refusals(NotFound)})
async def ask(request: Request, wish: DeletionWish) -> JSONResponse:
    """Delete backups of a volume, or the whole volume: gone from all lists at once, then from the store."""
    if wish.whole_volume == (wish.backups is not None):
        raise InvalidInput("name backups, or say wholeVolume: true, but not both", field="backups")
    deletion = await deletions_of(services_of(request)).ask(wish.target, wish.volume, wish.backups)
    return JSONResponse(deletion.to_wire(), status_code=202)


@router.post("/deletions/{name}/cancel", status_code=202, responses={202: {"model": Deletion}})
async def cancel(request: Request, name: str) -> JSONResponse:
    """Call it off while it has not begun; what it named is in the lists again at once."""
    return JSONResponse((await deletions_of(services_of(request)).cancel(name)).to_wire(), status_code=202)


@router.post("/deletions/{name}/retry", status_code=202, responses={202: {"model": Deletion}})
async def retry(request: Request, name: str) -> JSONResponse:
    """Try at once what failed and waits for its next try, with all others of its volume that do."""
    return JSONResponse((await _retry(services_of(request), name)).to_wire(), status_code=202)


async def _retry(services: Services, name: str) -> Deletion:
    for _ in range(_ATTEMPTS):
        asked = await services.store.get(Deletion, name)
        mark = store_volume_mark(asked.spec.target, asked.spec.volume)
        of_volume = await services.store.list(Deletion, selector=Selector.matching({STORE_VOLUME_LABEL: mark}))
        with suppress(StaleVersion):
            for one in retried_now(asked, of_volume.items):
                await services.store.update(one)
            return await services.store.get(Deletion, name)
    raise StaleVersion(f"deletion {name} changes too often to be tried again", hint="try again")


def deletions_of(services: Services) -> Deletions:
    """Where deletes are asked for; missing only where the API is put together without a server."""
    if services.deletions is None:
        raise Refused("this server deletes nothing from stores")
    return services.deletions
