"""The web page: static files under a policy that lets them load nothing from elsewhere."""

from http import HTTPStatus

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse
from starlette.convertors import Convertor, register_url_convertor
from starlette.exceptions import HTTPException

from tidegate.api.page_files import START, PageFile
from tidegate.api.security.auth import services_of

NO_PAGE = "The web page is not built here; with Node.js installed, `make ui` in the source tree builds it.\n"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
_ASSETS = "assets/"


class _NotOfTheApi(Convertor[str]):
    """Any path but those of the API, whose own 404 and 405 must stay as they are."""

    regex = r"(?!v1(?:/|$)).*"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("screen", _NotOfTheApi())
router = APIRouter(include_in_schema=False)


@router.get("/{path:screen}")
async def page(request: Request, path: str) -> Response:
    """A file of the page, or the page itself: which screen a path means is known in the browser."""
    files = services_of(request).page
    if path in files.files and path != START:
        return _answer(files.files[path], forever=path.startswith(_ASSETS))
    if path.startswith(_ASSETS) or (path and "text/html" not in request.headers.get("accept", "")):
        raise HTTPException(HTTPStatus.NOT_FOUND, "Not Found")
    if files.start is None:
        return PlainTextResponse(NO_PAGE, status_code=HTTPStatus.NOT_FOUND)
    return _answer(files.start, forever=False)


def _answer(file: PageFile, *, forever: bool) -> Response:
    # The names of assets carry a hash of their content: another content has another name.
    caching = "public, max-age=31536000, immutable" if forever else "no-cache"
    return Response(file.body, media_type=file.media_type, headers={**_HEADERS, "Cache-Control": caching})
