"""All kinds, by name and by plural: the API is built from those that clients see, the stores also keep the others."""

from tidegate.model.backups.backup import Backup
from tidegate.model.notifications.notification import Notification, NotificationDelivery
from tidegate.model.resource import Resource
from tidegate.model.restores.restore import Restore
from tidegate.model.row_page import RowPage
from tidegate.model.schedules.schedule import Schedule
from tidegate.model.setting import Setting
from tidegate.model.stores.deletion import Deletion
from tidegate.model.stores.target import BackupTarget
from tidegate.model.system.system import SystemBackup
from tidegate.model.system.system_restore import SystemRestore
from tidegate.model.transfers.node import Node
from tidegate.model.transfers.transfer import TRANSFERS
from tidegate.model.verification.verification import Verification
from tidegate.model.volumes.volume import Namespace, Volume

KINDS: tuple[type[Resource], ...] = (
    Namespace,
    Volume,
    BackupTarget,
    Backup,
    Restore,
    Schedule,
    SystemBackup,
    SystemRestore,
    Verification,
    *TRANSFERS,
    Notification,
    NotificationDelivery,
    Deletion,
    Setting,
    Node,
)

# Stored, but shown as a part of what owns them.
INTERNAL_KINDS: tuple[type[Resource], ...] = (RowPage,)

KIND_BY_NAME: dict[str, type[Resource]] = {
    kind.model_fields["kind"].default: kind for kind in (*KINDS, *INTERNAL_KINDS)
}
KIND_BY_PLURAL: dict[str, type[Resource]] = {kind.plural: kind for kind in KINDS}


def kind_name(kind: type[Resource]) -> str:
    """The wire name of a kind, such as `Backup`."""
    return str(kind.model_fields["kind"].default)
