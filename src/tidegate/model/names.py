"""Names that are safe as a path component, a label, a URL segment and a Kubernetes object name."""

import re
from typing import Annotated

from pydantic import AfterValidator, Field

LONGEST_NAME = 253
LONGEST_LABEL = 63
_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_SUBDOMAIN = re.compile(rf"{_LABEL.pattern}(\.{_LABEL.pattern})*")


def check_name(name: str) -> str:
    """A resource name: lower-case letters, digits, `-` and `.`; begins and ends with a letter or digit."""
    if len(name) > LONGEST_NAME:
        raise ValueError(f"a name has at most {LONGEST_NAME} characters, this one has {len(name)}")
    if not _SUBDOMAIN.fullmatch(name):
        raise ValueError(
            f"{name!r} is not a name: use lower-case letters, digits, '-' and '.', "
            "and begin and end with a letter or digit"
        )
    return name


def check_namespace(name: str) -> str:
    """A namespace name: as a resource name, but without dots and at most 63 characters."""
    if len(name) > LONGEST_LABEL:
        raise ValueError(f"a namespace name has at most {LONGEST_LABEL} characters, this one has {len(name)}")
    if not _LABEL.fullmatch(name):
        raise ValueError(
            f"{name!r} is not a namespace name: use lower-case letters, digits and '-', "
            "and begin and end with a letter or digit"
        )
    return name


Name = Annotated[str, AfterValidator(check_name), Field(examples=["nightly-1"])]
NamespaceName = Annotated[str, AfterValidator(check_namespace), Field(examples=["shop"])]
