"""The exit codes, and which error ends with which. The codes that restic has too mean the same there."""

from enum import IntEnum

from tidegate.errors import (
    AlreadyExists,
    AlreadyRunning,
    CatalogueDamaged,
    CatalogueNotRead,
    DamagedBlock,
    DamagedMetadata,
    DamageError,
    DatabaseDamaged,
    DestinationUnusable,
    Forbidden,
    FormerSetting,
    HelperLost,
    InvalidInput,
    MissingBlock,
    NoSpace,
    NotDelivered,
    NotFound,
    Refused,
    RestoredDataDiffers,
    RetryableError,
    ServerUnreachable,
    SourceUnreadable,
    StaleVersion,
    StoreBusy,
    StoreIdentityChanged,
    StoreIdentityMissing,
    StoreLocked,
    StoreLockHeld,
    StoreUnavailable,
    TidegateError,
    TooManyAttempts,
    Unauthenticated,
    UserError,
    WatchExpired,
    WorkCancelled,
    WrongKey,
)


class ExitCode(IntEnum):
    """How a command ended. Scripts rely on these: a number never changes its meaning."""

    DONE = 0
    FAILED = 1
    WRONG_USAGE = 2
    PARTLY_MISSING = 3
    REJECTED = 4
    NOT_FOUND = 5
    CONFLICT = 6
    WAITED_TOO_LONG = 7
    STORE_NOT_THERE = 10
    LOCKED = 11
    CREDENTIALS_REFUSED = 12
    INTERRUPTED = 130

    @property
    def meaning(self) -> str:
        """The words for it in help and documents."""
        return _MEANINGS[self]


_MEANINGS = {
    ExitCode.DONE: "done",
    ExitCode.FAILED: "failed",
    ExitCode.WRONG_USAGE: "wrong usage",
    ExitCode.PARTLY_MISSING: "finished with part of the data missing",
    ExitCode.REJECTED: "rejected by validation",
    ExitCode.NOT_FOUND: "not found",
    ExitCode.CONFLICT: "conflict with what is there",
    ExitCode.WAITED_TOO_LONG: "waited too long",
    ExitCode.STORE_NOT_THERE: "server or store not there",
    ExitCode.LOCKED: "locked by somebody else",
    ExitCode.CREDENTIALS_REFUSED: "credentials refused",
    ExitCode.INTERRUPTED: "interrupted",
}

EXIT_CODES: dict[type[TidegateError], ExitCode] = {
    TidegateError: ExitCode.FAILED,
    UserError: ExitCode.FAILED,
    InvalidInput: ExitCode.REJECTED,
    Unauthenticated: ExitCode.CREDENTIALS_REFUSED,
    Forbidden: ExitCode.CREDENTIALS_REFUSED,
    TooManyAttempts: ExitCode.CREDENTIALS_REFUSED,
    WrongKey: ExitCode.CREDENTIALS_REFUSED,
    NotFound: ExitCode.NOT_FOUND,
    FormerSetting: ExitCode.NOT_FOUND,
    AlreadyExists: ExitCode.CONFLICT,
    Refused: ExitCode.CONFLICT,
    SourceUnreadable: ExitCode.REJECTED,
    DestinationUnusable: ExitCode.REJECTED,
    NoSpace: ExitCode.FAILED,
    AlreadyRunning: ExitCode.LOCKED,
    RetryableError: ExitCode.FAILED,
    StaleVersion: ExitCode.CONFLICT,
    WatchExpired: ExitCode.FAILED,
    StoreUnavailable: ExitCode.STORE_NOT_THERE,
    StoreBusy: ExitCode.STORE_NOT_THERE,
    StoreIdentityMissing: ExitCode.STORE_NOT_THERE,
    StoreIdentityChanged: ExitCode.STORE_NOT_THERE,
    StoreLocked: ExitCode.LOCKED,
    StoreLockHeld: ExitCode.LOCKED,
    ServerUnreachable: ExitCode.STORE_NOT_THERE,
    NotDelivered: ExitCode.FAILED,
    CatalogueDamaged: ExitCode.FAILED,
    CatalogueNotRead: ExitCode.FAILED,
    HelperLost: ExitCode.FAILED,
    DamageError: ExitCode.FAILED,
    DatabaseDamaged: ExitCode.FAILED,
    DamagedMetadata: ExitCode.FAILED,
    DamagedBlock: ExitCode.FAILED,
    MissingBlock: ExitCode.FAILED,
    RestoredDataDiffers: ExitCode.FAILED,
    WorkCancelled: ExitCode.FAILED,
}

# A job that was waited for: how its last phase is told to a script.
PHASE_EXIT_CODES = {
    "Completed": ExitCode.DONE,
    "Ready": ExitCode.DONE,
    "PartiallyFailed": ExitCode.PARTLY_MISSING,
    "FailedValidation": ExitCode.REJECTED,
    "Failed": ExitCode.FAILED,
    "Error": ExitCode.FAILED,
    "Canceled": ExitCode.FAILED,
}
