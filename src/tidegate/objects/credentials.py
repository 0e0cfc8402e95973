"""The credentials of one target, by the names that Longhorn's secrets have. Never the process's environment."""

from collections.abc import Mapping

from tidegate.errors import InvalidInput
from tidegate.model.access.credentials import CREDENTIAL_NAMES, ENCRYPTION_NAMES

_PAIRS = (
    ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"),
    ("AZBLOB_ACCOUNT_NAME", "AZBLOB_ACCOUNT_KEY"),
    ("CIFS_USERNAME", "CIFS_PASSWORD"),
)
_HINT = "see docs/targets.md for the names that each kind of target knows"


def check_credentials(scheme: str, credentials: Mapping[str, str]) -> dict[str, str]:
    """What was given, without empty values. Raises InvalidInput that names the keys, never their values."""
    given = {name: value for name, value in credentials.items() if value and name not in ENCRYPTION_NAMES}
    unknown = sorted(given.keys() - CREDENTIAL_NAMES[scheme])
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
