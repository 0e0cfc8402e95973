"""The files in a backup: what a directory holds, and one file to take away."""

import hashlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Annotated, Any
from urllib.parse import parse_qs, quote

import structlog
from fastapi import APIRouter, Depends, Header, Query, Request, Response
from fastapi.responses import StreamingResponse
from starlette.concurrency import iterate_in_threadpool

from tidegate.api.parameters import CutParameter
from tidegate.api.problems import problem, refusals
from tidegate.api.security.auth import require_token, services_of
from tidegate.api.services import Services
from tidegate.decide.backups.byte_range import asked_range
from tidegate.decide.backups.tree_choice import tree_to_browse
from tidegate.errors import Refused, TidegateError, WrongKey
from tidegate.format.cfgs.times import moment_of
from tidegate.format.trees.entry import ROOT_PATH, TreeEntry
from tidegate.model.backups.backup import Backup
from tidegate.model.backups.file_listing import FileListing, FilePagination, ListedFile
from tidegate.model.labels import Selector
from tidegate.model.stores.target import BackupTarget
from tidegate.model.transfers.transfer import BACKUP_LABEL, UPLOADS, Transfer
from tidegate.ports.secrets import access_to
from tidegate.ports.stored_trees import OpenedFile, TreePlace

router = APIRouter(tags=["backups"], dependencies=[Depends(require_token)])
log = structlog.get_logger(__name__)

_PAGE = 200
_LARGEST_PAGE = 1000
# Whoever wrote the file decides what is in it: it is never shown as a page of ours, only saved.
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


async def _every_byte(
    request: Request,
    path: Annotated[
        str, Query(max_length=65536, description="From the root of the tree; percent-encoded, also bytes of no text.")
    ] = "",
) -> str:
    """The path as it was sent: a name that is no text is a name all the same."""
    query = parse_qs(request.scope["query_string"].decode("latin-1"), errors="surrogateescape")
    return query.get("path", [path])[-1].strip("/") or ROOT_PATH


@dataclass(frozen=True)
class _Wanted:
    """Which part of a file the headers ask for."""

    asked: str
    only_of: str
    """The version that the client has the other part of; empty: any."""

    def of(self, tag: str, size: int) -> range | None:
        """The part of the version with this tag; None for all of it."""
        return None if self.only_of not in {"", tag} else asked_range(self.asked, size)


async def _wanted_range(
    asked: Annotated[str, Header(alias="Range", max_length=256, description="One range: `bytes=FIRST-LAST`.")] = "",
    if_range: Annotated[str, Header(max_length=256, description="The ETag of the part that is there already.")] = "",
) -> _Wanted:
    return _Wanted(asked, if_range.strip())


_BYTES = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {"description": "The whole file", "content": _BYTES},
    206: {"description": "The range that was asked for", "content": _BYTES},
    416: {"description": "The file ends before the range begins"},
    **refusals(Refused),
}
WantedRange = Annotated[_Wanted, Depends(_wanted_range)]
TreePath = Annotated[str, Depends(_every_byte)]
Volume = Annotated[
    str, Query(max_length=512, description="NAMESPACE/NAME; may be left out where the backup holds one tree only.")
]


@router.get("/backups/{name}/files", response_model_exclude_none=True, responses=refusals(Refused, WrongKey))
async def list_files(
    request: Request, name: str, path: TreePath, cut: CutParameter, volume: Volume = ""
) -> FileListing:
    """One directory of a backed-up file tree, in pages: directories first, by name."""
    services, limit = services_of(request), min(cut.limit or _PAGE, _LARGEST_PAGE)
    upload = await _upload(services, name, volume)
    page = await services.trees.directory(await _place(services, upload), path, marker=cut.marker, limit=limit)
    return FileListing(
        backup=name,
        volume=f"{upload.spec.volume_namespace}/{upload.spec.volume_name}",
        path=_readable(path),
        data=tuple(map(_listed, page.entries)),
        pagination=FilePagination(limit=limit, next=page.next),
    )


@router.get("/backups/{name}/content", response_class=StreamingResponse, responses=_ANSWERS)
async def download_file(
    request: Request, name: str, path: TreePath, wanted: WantedRange, volume: Volume = ""
) -> Response:
    """The bytes of one file, or one range of them. Should a later block be damaged, the answer breaks off early."""
    services = services_of(request)
    upload = await _upload(services, name, volume)
    place = await _place(services, upload)
    tag = _tag(place, path)
    file = await services.trees.open_file(place, path, part=partial(wanted.of, tag))
    size, part = file.entry.size, file.part
    headers = {**_HEADERS, "Accept-Ranges": "bytes", "ETag": tag}
    if part is not None and not part:
        file.close()
        refused = problem(HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE, "InvalidInput", f"the file has {size} bytes")
        refused.headers.update({**headers, "Content-Range": f"bytes */{size}"})
        return refused
    if part is not None:
        headers["Content-Range"] = f"bytes {part.start}-{part.stop - 1}/{size}"
    headers["Content-Length"] = str(size if part is None else len(part))
    asked_name = path.rpartition("/")[2]  # by this name it was asked for; a hard link's file has another one
    headers["Content-Disposition"] = f"attachment; filename*=UTF-8''{quote(_readable(asked_name), safe='')}"
    status = HTTPStatus.OK if part is None else HTTPStatus.PARTIAL_CONTENT
    return StreamingResponse(_pieces(file), status, media_type="application/octet-stream", headers=headers)


def _tag(place: TreePlace, path: str) -> str:
    """What is at a place never changes, so the place is the version."""
    told = (place.access.url, place.store_volume, place.store_backup, path)
    return f'"{hashlib.sha256(repr(told).encode()).hexdigest()[:32]}"'


async def _pieces(file: OpenedFile) -> AsyncIterator[bytes]:
    try:
        async for piece in iterate_in_threadpool(file):
            yield piece
    except TidegateError as error:
        # The status is sent; the length that is missing tells the client, the log tells why.
        log.warning("a download broke off", path=_readable(file.entry.path), error=error.message)
        raise
    finally:
        file.close()


async def _upload(services: Services, backup: str, volume: str) -> Transfer:
    found = await services.store.get(Backup, backup)
    mine = Selector.matching({BACKUP_LABEL: found.metadata.uid})
    uploads = [one for kind in UPLOADS for one in (await services.store.list(kind, selector=mine)).items]
    return tree_to_browse(found, uploads, volume)


async def _place(services: Services, upload: Transfer) -> TreePlace:
    target = await services.store.get(BackupTarget, upload.spec.target)
    access = await access_to(target, services.secrets)
    return TreePlace(access, upload.spec.store_volume, upload.spec.store_backup)


def _listed(entry: TreeEntry) -> ListedFile:
    return ListedFile(
        name=_readable(entry.name),
        path=_readable(entry.path),
        key=quote(entry.path.encode("utf-8", "surrogateescape")),
        type=str(entry.type),
        mode=f"{entry.mode:04o}",
        uid=entry.uid,
        gid=entry.gid,
        size=entry.size,
        modified=moment_of(entry.mtime_ns),
        target=_readable(entry.target),
    )


def _readable(text: str) -> str:
    """As text that JSON and headers can carry: what is no text becomes U+FFFD."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
