"""The nouns that commands are about, and where the server keeps them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Noun:
    """One kind of resource, or several that people think of as one."""

    word: str
    """As typed."""
    plurals: tuple[str, ...]
    """Below /v1."""
    view: str
    """Module and name of its TableView, imported only when a table is drawn: models are slow to load."""
    namespaced: bool = False

    @property
    def tag(self) -> str:
        """In front of a name, as in `-o name`: one word."""
        return self.word.replace(" ", "")

    @property
    def plural(self) -> str:
        """Of nouns that are one kind."""
        return self.plurals[0]


@dataclass(frozen=True)
class Job(Noun):
    """A noun that runs for a while: with the transfers that it starts and the label by which they are found."""

    transfers: tuple[str, ...] = ()
    label: str = ""
    parts: tuple[str, ...] = ()
    """What moves its bytes and is found by no label of its own: its progress is looked at anew when these change."""


UPLOADS = ("datauploads", "podvolumebackups")
DOWNLOADS = ("datadownloads", "podvolumerestores")

BACKUP = Job("backup", ("backups",), "backups.backup:BACKUPS", transfers=UPLOADS, label="tidegate.dev/backup-uid")
RESTORE = Job(
    "restore", ("restores",), "restores.restore:RESTORES", transfers=DOWNLOADS, label="tidegate.dev/restore-uid"
)
VERIFY = Job(
    "verify",
    ("verifications",),
    "verification.verification:VERIFICATIONS",
    transfers=DOWNLOADS,
    label="tidegate.dev/verification-uid",
)
SCHEDULE = Noun("schedule", ("schedules",), "schedules.schedule:SCHEDULES")
VOLUME = Noun("volume", ("volumes",), "volumes.volume:VOLUMES", namespaced=True)
TARGET = Noun("target", ("backuptargets",), "stores.target:TARGETS")
NAMESPACE = Noun("namespace", ("namespaces",), "volumes.namespace:NAMESPACES")
SETTING = Noun("setting", ("settings",), "setting:SETTINGS")
TRANSFER = Noun("transfer", (*UPLOADS, *DOWNLOADS), "transfers.transfer:TRANSFER_TABLE")
NOTIFICATION = Noun("notification", ("notifications",), "notifications.notification:NOTIFICATIONS")
DELETION = Noun("deletion", ("deletions",), "stores.deletion:DELETIONS")
SYSTEM_BACKUP = Job("system backup", ("systembackups",), "system.backup:SYSTEM_BACKUPS", parts=("backups", *UPLOADS))
SYSTEM_RESTORE = Job(
    "system restore", ("systemrestores",), "system.restore:SYSTEM_RESTORES", parts=("restores", *DOWNLOADS)
)
NODE = Noun("node", ("nodes",), "transfers.node:NODES")
# Not a stored resource but a look into the catalogue, so it is in no list of nouns that can be watched.
BACKUP_VOLUME = Noun("backup-volume", ("backupvolumes",), "stores.catalogue:BACKUP_VOLUMES")
# Not stored resources either: no stream of events tells of them.
TOKEN = Noun("token", ("tokens",), "access.access:TOKENS")
USER = Noun("user", ("users",), "access.access:USERS")

NOUNS = (
    BACKUP,
    RESTORE,
    VERIFY,
    SCHEDULE,
    VOLUME,
    TARGET,
    NAMESPACE,
    SETTING,
    TRANSFER,
    SYSTEM_BACKUP,
    SYSTEM_RESTORE,
    NOTIFICATION,
    DELETION,
    NODE,
)
