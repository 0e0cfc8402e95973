"""Every error that Tidegate raises on purpose, split by who must act.

    TidegateError
    ├── UserError              the caller must change something; final, shown as it is
    │   ├── InvalidInput           a value is wrong; says which and what would be right
    │   ├── Unauthenticated        no token, or one that nobody gave out
    │   ├── Forbidden              the caller is known, but may not do this, or not in this way
    │   ├── TooManyAttempts        too many wrong logins in a short time
    │   ├── WrongKey               a backup is encrypted, and its key is not the one that was given
    │   ├── NotFound               there is no such thing
    │   │   └── FormerSetting          a setting of Longhorn that became backup targets
    │   ├── AlreadyExists          the name is taken
    │   ├── Refused                valid, but not in the present state
    │   ├── SourceUnreadable       the data to back up is missing or may not be read
    │   ├── DestinationUnusable    the place to restore to is taken, missing or may not be written
    │   ├── NoSpace                a disk or a quota is full
    │   └── AlreadyRunning         another server owns this data directory, or the port is taken
    ├── RetryableError         nobody must act; back off, look again
    │   ├── StaleVersion           somebody else wrote first: observe again, never force
    │   ├── WatchExpired           the watcher is too far behind: list again
    │   ├── StoreUnavailable       the object store did not answer
    │   │   ├── StoreBusy              it answered: fewer requests, please
    │   │   ├── StoreIdentityMissing   what is there has no identity, but the store had one: is it mounted?
    │   │   └── StoreIdentityChanged   what is there is another store
    │   ├── StoreLocked            another client works on the same volume
    │   │   └── StoreLockHeld      and has its lock; nothing was written
    │   ├── ServerUnreachable      no server where the CLI looked for one
    │   ├── NotDelivered           whoever should be notified did not take it
    │   ├── CatalogueDamaged       the catalogue's file is damaged; it is made anew by itself
    │   ├── CatalogueNotRead       a store has not been read yet: what is not known may be there
    │   └── HelperLost             a process that did part of the work was killed
    ├── DamageError            stop, loudly; data in the store is not what it should be
    │   ├── DatabaseDamaged        a database of the server itself; it accepts nothing more
    │   ├── DamagedMetadata        a cfg, a lock or a manifest cannot be understood
    │   ├── DamagedBlock           a block's bytes do not match its name
    │   ├── MissingBlock           a cfg names a block that the store says it does not have
    │   └── RestoredDataDiffers    what was restored reads back from its disk as something else
    └── WorkCancelled          somebody asked for it to stop; neither success nor failure

Anything else that is raised is a bug of ours. `code` is stable: clients, exit codes and documents refer to it.
`hint` says what to do next where the message alone does not.
"""

from typing import ClassVar


class TidegateError(Exception):
    """The root. Never raised itself."""

    code: ClassVar[str] = "TidegateError"

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UserError(TidegateError):
    """The caller must change something."""

    code = "UserError"


class InvalidInput(UserError):
    """A value is wrong. `field` is its path, such as `spec.includedNamespaces[0]`."""

    code = "InvalidInput"

    def __init__(self, message: str, *, field: str = "", hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.field = field


class Unauthenticated(UserError):
    """No token, or one that nobody gave out."""

    code = "Unauthenticated"


class Forbidden(UserError):
    """The caller is known, but may not do this, or not in this way."""

    code = "Forbidden"


class TooManyAttempts(UserError):
    """Too many wrong logins in a short time."""

    code = "TooManyAttempts"


class WrongKey(UserError):
    """A backup is encrypted, and no key was given for it, or another one."""

    code = "WrongKey"


class NotFound(UserError):
    """There is no such thing. Raised only when the owner of the truth says so, never after a failed look."""

    code = "NotFound"


class FormerSetting(NotFound):
    """A setting of Longhorn that became backup targets. Not 404, which Longhorn's clients take for no answer at all."""

    code = "FormerSetting"


class AlreadyExists(UserError):
    """The name is taken."""

    code = "AlreadyExists"


class Refused(UserError):
    """Valid, but not in the present state."""

    code = "Refused"


class SourceUnreadable(UserError):
    """The data to back up is missing or may not be read."""

    code = "SourceUnreadable"


class DestinationUnusable(UserError):
    """The place to restore to is taken, missing or may not be written."""

    code = "DestinationUnusable"


class NoSpace(UserError):
    """A disk or a quota is full."""

    code = "NoSpace"


class AlreadyRunning(UserError):
    """Another server owns this data directory, or the port is taken."""

    code = "AlreadyRunning"


class RetryableError(TidegateError):
    """Nobody must act: back off and look again."""

    code = "RetryableError"


class StaleVersion(RetryableError):
    """Somebody else wrote first: observe again, never force."""

    code = "StaleVersion"


class WatchExpired(RetryableError):
    """The watcher is too far behind for the events that are kept: list again, then watch from there."""

    code = "WatchExpired"


class StoreUnavailable(RetryableError):
    """The object store did not answer, or answered something that proves nothing."""

    code = "StoreUnavailable"


class StoreBusy(StoreUnavailable):
    """The object store asks for fewer requests."""

    code = "StoreBusy"


class StoreIdentityMissing(StoreUnavailable):
    """The URL leads to something without the identity that the store had: a share that is not mounted, say."""

    code = "StoreIdentityMissing"
    found = ""


class StoreIdentityChanged(StoreUnavailable):
    """The URL leads to another store than before. `found` is the identity of that one."""

    code = "StoreIdentityChanged"

    def __init__(self, message: str, *, found: str = "", hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.found = found


class StoreLocked(RetryableError):
    """Another client works on the same volume of the store."""

    code = "StoreLocked"


class StoreLockHeld(StoreLocked):
    """Another client has the volume's lock, so the work was not begun. `lock` says which, and when it was written."""

    code = "StoreLockHeld"

    def __init__(self, message: str, *, lock: str = "", hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.lock = lock


class ServerUnreachable(RetryableError):
    """No server where the CLI looked for one."""

    code = "ServerUnreachable"


class NotDelivered(RetryableError):
    """Whoever should be notified did not take it. The sentence never holds an address: addresses carry tokens."""

    code = "NotDelivered"


class CatalogueDamaged(RetryableError):
    """The catalogue's file is damaged. The server makes a new one and reads the stores again."""

    code = "CatalogueDamaged"


class CatalogueNotRead(RetryableError):
    """A store has not been read into the catalogue yet, so what the catalogue does not know may still be there."""

    code = "CatalogueNotRead"


class HelperLost(RetryableError):
    """A process that did part of the work was killed, most likely because memory ran out."""

    code = "HelperLost"


class DamageError(TidegateError):
    """Data in the store is not what it should be. Never retried, never hidden."""

    code = "DamageError"


class DatabaseDamaged(DamageError):
    """A database of the server itself is damaged. Nothing more is accepted; the hint says how to come back."""

    code = "DatabaseDamaged"


class DamagedMetadata(DamageError):
    """A cfg, a lock or a manifest cannot be understood."""

    code = "DamagedMetadata"


class DamagedBlock(DamageError):
    """A block's bytes do not match its name."""

    code = "DamagedBlock"


class MissingBlock(DamageError):
    """A cfg names a block that the store says it does not have."""

    code = "MissingBlock"


class RestoredDataDiffers(DamageError):
    """What was restored reads back from its disk as something else."""

    code = "RestoredDataDiffers"


class WorkCancelled(TidegateError):
    """Somebody asked for it to stop."""

    code = "WorkCancelled"


def error_classes() -> dict[str, type[TidegateError]]:
    """All classes by code: for the tables that must cover the whole tree and for errors that crossed a process."""
    found: dict[str, type[TidegateError]] = {}
    waiting = [TidegateError]
    while waiting:
        cls = waiting.pop()
        found[cls.code] = cls
        waiting.extend(cls.__subclasses__())
    return found
