"""All kinds, by name and by plural: what the stores and the API are built from."""

from tidegate.model.backup import Backup
from tidegate.model.backup_volume import BackupVolume
from tidegate.model.deletion import Deletion
from tidegate.model.node import Node
from tidegate.model.notification import Notification, NotificationDelivery
from tidegate.model.resource import Resource
from tidegate.model.restore import Restore
from tidegate.model.schedule import Schedule
from tidegate.model.setting import Setting
from tidegate.model.system import SystemBackup
from tidegate.model.system_restore import SystemRestore
from tidegate.model.target import BackupTarget
from tidegate.model.transfer import TRANSFERS
from tidegate.model.verification import Verification
from tidegate.model.volume import Namespace, Volume

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
    BackupVolume,
    Notification,
    NotificationDelivery,
    Deletion,
    Setting,
    Node,
)

KIND_BY_NAME: dict[str, type[Resource]] = {kind.model_fields["kind"].default: kind for kind in KINDS}
KIND_BY_PLURAL: dict[str, type[Resource]] = {kind.plural: kind for kind in KINDS}


def kind_name(kind: type[Resource]) -> str:
    """The wire name of a kind, such as `Backup`."""
    return str(kind.model_fields["kind"].default)
