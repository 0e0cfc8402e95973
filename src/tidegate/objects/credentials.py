"""The credentials of one target, by the names that Longhorn's secrets have. Never the process's environment."""

from collections.abc import Mapping

from tidegate.errors import InvalidInput

_PROXIES = ("HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY")
KNOWN_NAMES: dict[str, frozenset[str]] = {
    "s3": frozenset(
        {
            "AWS_ACCESS_KEY_ID",
            "AWS_SECRET_ACCESS_KEY",
            "AWS_ENDPOINTS",
            "AWS_CERT",
            "AWS_IAM_ROLE_ARN",
            "AWS_SIGN_ACCEPT_ENCODING",  # Longhorn's; we never sign that header, so both answers are right
            "VIRTUAL_HOSTED_STYLE",
            *_PROXIES,
        }
    ),
    "azblob": frozenset({"AZBLOB_ACCOUNT_NAME", "AZBLOB_ACCOUNT_KEY", "AZBLOB_ENDPOINT", "AZBLOB_CERT", *_PROXIES}),
    "gs": frozenset({"GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_SERVICE_ACCOUNT_KEY", *_PROXIES}),
    "cifs": frozenset({"CIFS_USERNAME", "CIFS_PASSWORD"}),
    "nfs": frozenset(),
    "file": frozenset(),
    "vfs": frozenset(),
}
_PAIRS = (
    ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"),
    ("AZBLOB_ACCOUNT_NAME", "AZBLOB_ACCOUNT_KEY"),
    ("CIFS_USERNAME", "CIFS_PASSWORD"),
)
_HINT = "see docs/targets.md for the names that each kind of target knows"


def check_credentials(scheme: str, credentials: Mapping[str, str]) -> dict[str, str]:
    """What was given, without empty values. Raises InvalidInput that names the keys, never their values."""
    given = {name: value for name, value in credentials.items() if value}
    unknown = sorted(given.keys() - KNOWN_NAMES[scheme])
    if unknown:
        raise _wrong(f"the credentials of a target {scheme}:// cannot have {', '.join(unknown)}")
    for one, other in _PAIRS:
        if (one in given) != (other in given):
            missing = other if one in given else one
            raise _wrong(f"the credentials have no {missing}: give both {one} and {other}, or neither")
    if given.get("VIRTUAL_HOSTED_STYLE", "true") not in {"true", "false"}:
        raise _wrong("VIRTUAL_HOSTED_STYLE in the credentials should be true or false")
    for name in ("AWS_ENDPOINTS", "AZBLOB_ENDPOINT", "HTTP_PROXY", "HTTPS_PROXY"):
        if name in given and not given[name].startswith(("http://", "https://")):
            raise _wrong(f"{name} in the credentials should begin with https:// or http://")
    return given


def _wrong(sentence: str) -> InvalidInput:
    return InvalidInput(sentence, field="spec.credentialSecret", hint=_HINT)
