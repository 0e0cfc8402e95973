"""obstore's clients for one target each: its place and its credentials, put into the library's words.

What is written is what every compatible store takes: one plain PUT with a signed body, no chunks, no trailing checksum,
no signed Accept-Encoding, single deletes (longhorn#12676, #12713, #13477, #13756).
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

import obstore
from obstore.store import AzureStore, GCSStore, S3Store

from tidegate.errors import InvalidInput
from tidegate.objects.place import Place

if TYPE_CHECKING:
    from collections.abc import Callable

    from obstore.store import ClientConfig, RetryConfig, S3Credential

    Client = S3Store | AzureStore | GCSStore

_DEFAULT_REGION = "us-east-1"
_DEFAULT_SUFFIX = "core.windows.net"
# By the library, and for listings only: it alone knows where a listing of many pages went on.
_PAGE_RETRIES = 6
_PAGE_PATIENCE = timedelta(minutes=2)


@dataclass(frozen=True)
class RemoteClient:
    """One client for single requests, which never repeats one by itself, and one for listings, which does."""

    place: Place
    single: "Client"
    listing: "Client"
    known_kind: bool
    """AWS, Azure or Google themselves, not something that speaks like S3.

    Known ones list what was put at once and honour "only if absent"; some others take the words and overwrite.
    """


def connect(place: Place, given: dict[str, str], *, request_timeout: timedelta) -> RemoteClient:
    """The clients of this target; nothing is sent yet. Raises InvalidInput for values that can never work."""
    build = _BUILDERS[place.scheme]
    options = _client_options(given, request_timeout)
    never: RetryConfig = {"max_retries": 0}
    pages: RetryConfig = {"max_retries": _PAGE_RETRIES, "retry_timeout": _PAGE_PATIENCE}
    try:
        single, listing = build(place, given, options, never), build(place, given, options, pages)
    except (ValueError, obstore.exceptions.BaseError):
        # The library's sentence may hold the value itself.
        raise InvalidInput(
            f"the credentials for {place} cannot be used: an endpoint, key, certificate or proxy in them is malformed",
            field="spec.credentialSecret",
        ) from None
    return RemoteClient(place, single, listing, known_kind=not given.get("AWS_ENDPOINTS"))


def _client_options(given: dict[str, str], request_timeout: timedelta) -> "ClientConfig":
    endpoint = given.get("AWS_ENDPOINTS") or given.get("AZBLOB_ENDPOINT") or ""
    options: ClientConfig = {
        # Only where the person who wrote the endpoint said so.
        "allow_http": endpoint.startswith("http://"),
        "connect_timeout": timedelta(seconds=10),
        "timeout": request_timeout,
        "default_content_type": "application/octet-stream",
        "user_agent": "tidegate",
    }
    certificate = given.get("AWS_CERT") or given.get("AZBLOB_CERT")
    if certificate:
        options["root_certificate"] = certificate
    proxy = given.get("HTTP_PROXY" if options["allow_http"] else "HTTPS_PROXY")
    if proxy:
        options["proxy_url"] = proxy
        options["proxy_excludes"] = given.get("NO_PROXY", "")
    return options


def _s3(place: Place, given: dict[str, str], options: "ClientConfig", retries: "RetryConfig") -> S3Store:
    endpoint = given.get("AWS_ENDPOINTS", "").rstrip("/")
    hosted = given.get("VIRTUAL_HOSTED_STYLE", "false" if endpoint else "true") == "true"
    store = S3Store(
        place.bucket,
        config={
            "region": place.qualifier or given.get("AWS_REGION") or _DEFAULT_REGION,
            "virtual_hosted_style_request": hosted,
            "disable_bulk_delete": True,
            "conditional_put": "etag",
            **({"endpoint": _s3_endpoint(place, endpoint, hosted=hosted)} if endpoint else {}),
            **({"role_arn": given["AWS_IAM_ROLE_ARN"]} if "AWS_IAM_ROLE_ARN" in given else {}),
        },
        client_options=options,
        retry_config=retries,
        # A provider and not two settings: beside settings the library would take a session token of the environment.
        credential_provider=_static(given) if "AWS_ACCESS_KEY_ID" in given else None,
    )
    return store  # noqa: RET504  # mypy wants the name


def _s3_endpoint(place: Place, endpoint: str, *, hosted: bool) -> str:
    """The library wants the bucket in the endpoint's host itself where it belongs there."""
    scheme, _, host = endpoint.partition("://")
    return f"{scheme}://{place.bucket}.{host}" if hosted and not host.startswith(f"{place.bucket}.") else endpoint


def _static(given: dict[str, str]) -> "Callable[[], S3Credential]":
    key, secret = given["AWS_ACCESS_KEY_ID"], given["AWS_SECRET_ACCESS_KEY"]
    return lambda: {"access_key_id": key, "secret_access_key": secret, "token": None, "expires_at": None}


def _azure(place: Place, given: dict[str, str], options: "ClientConfig", retries: "RetryConfig") -> AzureStore:
    account = given.get("AZBLOB_ACCOUNT_NAME", "")
    endpoint = given.get("AZBLOB_ENDPOINT", "").rstrip("/")
    if not account:
        raise InvalidInput(
            f"{place} needs AZBLOB_ACCOUNT_NAME and AZBLOB_ACCOUNT_KEY in its credentials",
            field="spec.credentialSecret",
        )
    # Longhorn leaves the suffix empty where none is given, which never works; we take the public one.
    suffix = place.qualifier or _DEFAULT_SUFFIX
    url = f"{endpoint}/{account}" if endpoint else f"https://{account}.blob.{suffix}"
    return AzureStore(
        place.bucket,
        config={"account_name": account, "account_key": given["AZBLOB_ACCOUNT_KEY"], "endpoint": url},
        client_options=options,
        retry_config=retries,
    )


def _google(place: Place, given: dict[str, str], options: "ClientConfig", retries: "RetryConfig") -> GCSStore:
    return GCSStore(
        place.bucket,
        config={
            **({"service_account_key": given[_KEY]} if _KEY in given else {}),
            **({"application_credentials": given[_FILE]} if _FILE in given else {}),
        },
        client_options=options,
        retry_config=retries,
    )


_KEY, _FILE = "GOOGLE_SERVICE_ACCOUNT_KEY", "GOOGLE_APPLICATION_CREDENTIALS"
_BUILDERS: "dict[str, Callable[[Place, dict[str, str], ClientConfig, RetryConfig], Client]]" = {
    "s3": _s3,
    "azblob": _azure,
    "gs": _google,
}
