"""Tokens, users and the audit as tables."""

from tidegate.model.access.access import AccessToken, User
from tidegate.model.access.audit import AuditEntry
from tidegate.views.reader import Reader
from tidegate.views.table import Cell, Column, TableView, Tone

_REFUSED = 400


def _expires(token: AccessToken, reader: Reader) -> Cell:
    if token.expires_at is None:
        return Cell("never")
    return Cell("over", Tone.BAD) if token.is_over(reader.now) else Cell(f"in {reader.until(token.expires_at)}")


def _state(user: User) -> Cell:
    return Cell("Disabled", Tone.WAITING) if user.disabled else Cell("Enabled", Tone.GOOD)


def _who(entry: AuditEntry) -> str:
    """A name that somebody only claimed is no proof of who it was."""
    return entry.who if entry.via else f"({entry.who})"


def _outcome(entry: AuditEntry) -> Cell:
    return Cell(str(entry.outcome), Tone.BAD if entry.outcome >= _REFUSED else Tone.GOOD)


TOKENS = TableView(
    (AccessToken,),
    (
        Column("NAME", lambda token, _: token.name),
        Column("ROLE", lambda token, _: token.role),
        Column("EXPIRES", _expires),
        Column("LAST USED", lambda token, reader: reader.age(token.last_used_at) or "never"),
        Column("AGE", lambda token, reader: reader.age(token.created_at)),
        Column("MADE BY", lambda token, _: token.created_by),
    ),
)

USERS = TableView(
    (User,),
    (
        Column("NAME", lambda user, _: user.name),
        Column("ROLE", lambda user, _: user.role),
        Column("STATE", lambda user, _: _state(user)),
        Column("LAST LOGIN", lambda user, reader: reader.age(user.last_login_at) or "never"),
        Column("AGE", lambda user, reader: reader.age(user.created_at)),
        Column("MADE BY", lambda user, _: user.created_by),
        Column("PASSWORD", lambda user, reader: reader.age(user.password_changed_at), wide=True),
    ),
)

AUDIT = TableView(
    (AuditEntry,),
    (
        Column("WHEN", lambda entry, reader: reader.moment(entry.at)),
        Column("WHO", lambda entry, _: _who(entry)),
        Column("ROLE", lambda entry, _: entry.role or ""),
        Column("METHOD", lambda entry, _: entry.method),
        Column("WHAT", lambda entry, _: entry.what),
        Column("OUTCOME", lambda entry, _: _outcome(entry), right=True),
        Column("NOTE", lambda entry, _: entry.note),
        Column("VIA", lambda entry, _: entry.via or "", wide=True),
        Column("FROM", lambda entry, _: entry.address, wide=True),
    ),
)
