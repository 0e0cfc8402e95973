"""Webhooks: a POST of a JSON document, signed so that the receiver knows who sent it and when.

The headers are those of the Standard Webhooks specification, for which there are libraries in every language:
`webhook-id`, `webhook-timestamp` and `webhook-signature`, the last one over `id.timestamp.body`.
"""

import base64
import binascii
import hmac
import json
import ssl
from dataclasses import dataclass, field
from datetime import datetime
from http.client import HTTPException
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit
from urllib.request import HTTPRedirectHandler, HTTPSHandler, Request, build_opener

from tidegate import __version__
from tidegate.errors import InvalidInput, NotDelivered
from tidegate.ports.notifier import Notice

_TIMEOUT_SECONDS = 10.0
_SHORTEST_KEY_BYTES = 16
_KEY_PREFIX = "whsec_"


@dataclass(frozen=True)
class Webhook:
    """Where to send to. Its text form shows nothing of it."""

    address: SplitResult = field(repr=False)
    key: bytes = field(repr=False)
    trusts: ssl.SSLContext | None = field(default=None, repr=False)
    """Whose certificates count. None: those that the machine trusts."""

    @classmethod
    def of(cls, secret: dict[str, str], *, name: str) -> "Webhook":
        """Raises InvalidInput that tells what is wrong with the secret, never what is in it."""
        address = _read_address(secret.get("URL", ""))
        if address is None:
            raise InvalidInput(
                f"secret {name} has no URL that begins with https:// or http://",
                field="spec.secret",
                hint="write a line URL=https://... to it",
            )
        key = _read_key(secret.get("SIGNING_KEY", ""), name)
        return cls(address, key, _read_trust(secret.get("CA_FILE", ""), name))

    def post(self, notice: Notice, *, now: datetime) -> None:
        """Send it once. Raises NotDelivered unless the answer is a success; redirects are not followed."""
        body = document(notice)
        timestamp = str(int(now.timestamp()))
        headers = {
            "Content-Type": "application/json",
            "User-Agent": f"tidegate/{__version__}",
            "webhook-id": notice.identity,
            "webhook-timestamp": timestamp,
            "webhook-signature": signature(self.key, notice.identity, timestamp, body),
            **self._authorization(),
        }
        request = Request(self._plain_address(), data=body, headers=headers, method="POST")  # noqa: S310  # checked
        try:
            with build_opener(_NoRedirects, HTTPSHandler(context=self.trusts)).open(request, timeout=_TIMEOUT_SECONDS):
                return
        except HTTPError as error:
            error.close()
            raise NotDelivered(f"the webhook answered {error.code}") from None
        except (OSError, HTTPException, ValueError) as error:
            # Without the original: its text, or the request that it holds, may show the address.
            raise NotDelivered(f"the webhook could not be reached: {_reason(error)}") from None

    def _plain_address(self) -> str:
        host = self.address.netloc.rpartition("@")[2]
        return urlunsplit(self.address._replace(netloc=host, fragment=""))

    def _authorization(self) -> dict[str, str]:
        if self.address.username is None:
            return {}
        words = f"{unquote(self.address.username)}:{unquote(self.address.password or '')}"
        return {"Authorization": f"Basic {base64.b64encode(words.encode()).decode()}"}


class _NoRedirects(HTTPRedirectHandler):
    """Where a redirect leads, nobody has agreed to be told anything."""

    def redirect_request(  # noqa: PLR0917  # the base class's own
        self,
        req: Request,  # noqa: ARG002
        fp: IO[bytes],  # noqa: ARG002
        code: int,  # noqa: ARG002
        msg: str,  # noqa: ARG002
        headers: Any,  # noqa: ANN401, ARG002
        newurl: str,  # noqa: ARG002
    ) -> None:
        """None: the answer stands as it is."""
        return


def document(notice: Notice) -> bytes:
    """The body: all there is to tell, as JSON."""
    return json.dumps(
        {
            "id": notice.identity,
            "event": str(notice.event),
            "title": notice.title,
            "message": notice.message,
            "subject": {"kind": notice.subject_kind, "name": notice.subject_name},
            "occurredAt": notice.occurred_at.isoformat(),
        }
    ).encode()


def signature(key: bytes, identity: str, timestamp: str, body: bytes) -> str:
    """HMAC-SHA256 over identity, time and body: none of them can be changed, and an old one is told by its time."""
    signed = b".".join((identity.encode(), timestamp.encode(), body))
    return f"v1,{base64.b64encode(hmac.digest(key, signed, 'sha256')).decode()}"


def _read_address(text: str) -> SplitResult | None:
    try:
        address = urlsplit(text)
        usable = address.scheme in {"http", "https"} and bool(address.hostname) and address.port != 0
    except ValueError:
        return None
    return address if usable else None


def _read_key(text: str, name: str) -> bytes:
    try:
        encoded = text.removeprefix(_KEY_PREFIX)
        key = base64.b64decode(encoded, validate=True) if text.startswith(_KEY_PREFIX) else text.encode()
    except (binascii.Error, ValueError):
        key = b""
    if len(key) < _SHORTEST_KEY_BYTES:
        raise InvalidInput(
            f"secret {name} has no usable SIGNING_KEY: it needs at least {_SHORTEST_KEY_BYTES} bytes",
            field="spec.secret",
            hint="make one: echo SIGNING_KEY=whsec_$(openssl rand -base64 32)",
        )
    return key


def _read_trust(path: str, name: str) -> ssl.SSLContext | None:
    if not path:
        return None
    try:
        return ssl.create_default_context(cafile=path)
    except OSError as error:
        why = "it holds no certificate" if isinstance(error, ssl.SSLError) else error.strerror
        raise InvalidInput(
            f"the CA_FILE that secret {name} names cannot be used: {why}",
            field="spec.secret",
            hint="name a PEM file of the server with the certificate of who signed the receiver's",
        ) from None


def _reason(error: Exception) -> str:
    inner = error.reason if isinstance(error, URLError) and isinstance(error.reason, Exception) else error
    if isinstance(inner, ssl.SSLCertVerificationError):
        return "its certificate is not trusted"
    if isinstance(inner, TimeoutError):
        return "it did not answer in time"
    if isinstance(inner, OSError) and inner.strerror:
        return inner.strerror
    return type(inner).__name__
