"""The promise of the accounts: who may come in besides the owner of the machine."""

from datetime import datetime
from typing import Protocol

from tidegate.model.access.access import AccessToken, Caller, User, UserChange


class Accounts(Protocol):
    """Tokens and users. Looks are answered from memory, because every request asks; changes are durable on return.

    Secrets go in and never come out: neither a password nor a token, nor a hash of either, is in anything returned,
    but for the token that `make_token` has just made.
    """

    def tokens(self) -> list[AccessToken]:
        """All, by name."""
        ...

    def users(self) -> list[User]:
        """All, by name."""
        ...

    def holder_of(self, secret: str, now: datetime) -> Caller | None:
        """Whose token this is; None if nobody's, or if it is over."""
        ...

    def stamp_of(self, caller: Caller) -> str | None:
        """What a session must carry to be good, or None if this token or user may not have one.

        It is another one after a token was revoked, a password changed or a user disabled, also if that was taken back.
        """
        ...

    def known(self, name: str, *, token: bool, now: datetime) -> Caller | None:
        """The token or user with the role that it has now; None if it may not come in now."""
        ...

    def note_use(self, token: str, now: datetime) -> None:
        """It was used. Does not wait, and remembers only to within some minutes."""
        ...

    async def make_token(self, token: AccessToken) -> str:
        """Make one; the token itself, which nobody can ask for again. Raises AlreadyExists."""
        ...

    async def revoke_token(self, name: str) -> None:
        """From now on it opens nothing. Raises NotFound."""
        ...

    async def make_user(self, user: User, password: str) -> None:
        """Raises AlreadyExists."""
        ...

    async def change_user(self, name: str, change: UserChange, now: datetime) -> User:
        """Change what is named of a user; the user as it is then. Raises NotFound."""
        ...

    async def delete_user(self, name: str) -> None:
        """Raises NotFound."""
        ...

    async def user_with(self, name: str, password: str, now: datetime) -> Caller | None:
        """The user, if there is one of this name who may come in and this is the password.

        Takes as long for a name that does not exist: otherwise a stranger could find out which names do.
        """
        ...
