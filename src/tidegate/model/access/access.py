"""Who may do what: roles, tokens, users. No password, no token and no hash of either has a place in these."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, AwareDatetime, Field

from tidegate.model.frozen import Model
from tidegate.model.names import LONGEST_LABEL, Name

OWNER = "admin"
"""What the holder of admin.token is called; nobody else may have the name."""
# Lower limits invite guessing; without an upper one, hashing is work that a stranger can order.
SHORTEST_PASSWORD = 10
LONGEST_PASSWORD = 256
REQUESTED_BY = "tidegate.dev/requested-by"
"""The annotation that tells who asked for a job. Written by the server; what a client sends in its place is dropped."""


class Role(StrEnum):
    """What somebody may do; each may do what those before it may."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    ADMIN = "admin"

    def includes(self, other: "Role") -> bool:
        """Whether this one may do everything that the other may."""
        ranks = list(Role)
        return ranks.index(self) >= ranks.index(other)


class Via(StrEnum):
    """What somebody showed at the door."""

    OWNER = "admin.token"
    TOKEN = "token"  # noqa: S105  # a word, not a token
    USER = "user"


@dataclass(frozen=True)
class Caller:
    """Who is asking."""

    name: str
    role: Role
    via: Via

    @property
    def title(self) -> str:
        """How others read of them: a token and a user may have the same name."""
        return f"token {self.name}" if self.via is Via.TOKEN else self.name


THE_OWNER = Caller(OWNER, Role.ADMIN, Via.OWNER)


def _not_reserved(name: str) -> str:
    if name == OWNER:
        raise ValueError(f"the name {OWNER} belongs to whoever has admin.token; choose another")
    if len(name) > LONGEST_LABEL:
        raise ValueError(f"the name has at most {LONGEST_LABEL} characters, this one has {len(name)}")
    return name


AccountName = Annotated[Name, AfterValidator(_not_reserved)]
Password = Annotated[str, Field(min_length=SHORTEST_PASSWORD, max_length=LONGEST_PASSWORD)]


class AccessToken(Model):
    """A token as it is told: everything but the token."""

    name: AccountName
    role: Role
    created_at: AwareDatetime
    created_by: str = ""
    expires_at: AwareDatetime | None = None
    """None: until it is revoked."""
    last_used_at: AwareDatetime | None = None
    """To within some minutes: a write for every request would cost more than anybody learns from it."""

    def is_over(self, now: datetime) -> bool:
        """Whether it opens nothing any more."""
        return self.expires_at is not None and self.expires_at <= now


class NewToken(Model):
    """What to make."""

    name: AccountName
    role: Role
    expires_at: AwareDatetime | None = None


class IssuedToken(Model):
    """The answer to making one: the only time that the token itself is told."""

    token: str = Field(repr=False)
    record: AccessToken


class User(Model):
    """A user as it is told: everything but the password."""

    name: AccountName
    role: Role
    disabled: bool = False
    created_at: AwareDatetime
    created_by: str = ""
    password_changed_at: AwareDatetime
    last_login_at: AwareDatetime | None = None


class NewUser(Model):
    """Whom to let in."""

    name: AccountName
    role: Role
    password: Password = Field(repr=False)


class UserChange(Model):
    """What shall be different; what is not named stays."""

    role: Role | None = None
    disabled: bool | None = None
    password: Password | None = Field(default=None, repr=False)
