"""Why something waits: a closed list. The same word is condition reason, metric label, CLI text and UI chip."""

from enum import StrEnum


class Reason(StrEnum):
    """One word per kind of obstacle; the message beside it names the blocking object."""

    CONCURRENCY_LIMIT = "ConcurrencyLimit"
    NAMESPACE_OVERLAP_RUNNING = "NamespaceOverlapRunning"
    NAMESPACE_OVERLAP_QUEUED = "NamespaceOverlapQueued"
    RESTORE_LIMIT = "RestoreLimit"
    RESTORES_DISABLED = "RestoresDisabled"
    PREPARE_QUEUE_FULL = "PrepareQueueFull"
    NODE_LOAD = "NodeLoad"
    WAITING_FOR_LOCK = "WaitingForLock"
    TARGET_UNAVAILABLE = "TargetUnavailable"
    STORE_IDENTITY_MISSING = "StoreIdentityMissing"
    STORE_IDENTITY_CHANGED = "StoreIdentityChanged"
    PAUSED = "Paused"
    OUTSIDE_WINDOW = "OutsideWindow"
    DEPENDENCY = "Dependency"
    PENDING_EVALUATION = "PendingEvaluation"
