"""What may come in: checks and defaults for new resources that need more than the resource itself.

A mistake is told to the person who makes it, when it is made: not hours later at the head of a queue.
"""

from collections.abc import Sequence

from tidegate.decide.item_blocks import ordered_volumes
from tidegate.decide.overlap import check_pattern
from tidegate.errors import InvalidInput, NotFound
from tidegate.model.backup import Backup, BackupSpec
from tidegate.model.restore import RestoreSpec
from tidegate.model.setting import KNOWN_SETTINGS, Setting
from tidegate.model.target import BackupTarget

# Accepted by the schema because they are part of the design, refused here because nothing acts on them yet: a field
# that is silently ignored would be a promise that nobody keeps.
_NOT_YET = (
    "included_resources",
    "excluded_resources",
    "snapshot_move_data",
    "default_volumes_to_fs_backup",
    "csi_snapshot_timeout",
)

_PLAIN = BackupSpec()


def admit_backup(backup: Backup, targets: Sequence[BackupTarget]) -> Backup:
    """The backup with its target written in; raises InvalidInput or NotFound with the field that is wrong."""
    spec = backup.spec
    _check_patterns(spec.included_namespaces, "spec.includedNamespaces")
    _check_patterns(spec.excluded_namespaces, "spec.excludedNamespaces")
    for field in _NOT_YET:
        if getattr(spec, field) != getattr(_PLAIN, field):
            wire = BackupSpec.model_fields[field].alias or field
            raise InvalidInput(f"spec.{wire} is not supported yet; leave it out", field=f"spec.{wire}")
    for number, hook in enumerate(spec.hooks.resources):
        where = f"spec.hooks.resources[{number}]"
        _check_patterns(hook.included_namespaces, f"{where}.includedNamespaces")
        _check_patterns(hook.excluded_namespaces, f"{where}.excludedNamespaces")
        if not hook.pre and not hook.post:
            raise InvalidInput(f"hook {hook.name} does nothing: give pre, post or both", field=where)
    ordered_volumes(spec.ordered_resources)
    if spec.label_selector and spec.or_label_selectors:
        raise InvalidInput("give labelSelector or orLabelSelectors, not both", field="spec.labelSelector")
    return backup.with_spec(storage_location=_target_for(spec.storage_location, targets))


def admit_restore(spec: RestoreSpec) -> None:
    """Raises InvalidInput with the field that is wrong."""
    _check_patterns(spec.included_namespaces, "spec.includedNamespaces")
    _check_patterns(spec.excluded_namespaces, "spec.excludedNamespaces")
    for wire, value in (("scheduleName", spec.schedule_name), ("backupUrl", spec.backup_url)):
        if value:
            raise InvalidInput(f"spec.{wire} is not supported yet; give backupName", field=f"spec.{wire}")
    if spec.namespace_mapping:
        raise InvalidInput("spec.namespaceMapping is not supported yet", field="spec.namespaceMapping")


def check_setting(setting: Setting) -> None:
    """Raises NotFound for a name that nobody reads, InvalidInput for a value that it does not take."""
    definition = KNOWN_SETTINGS.get(setting.name)
    if definition is None:
        raise NotFound(f"there is no setting {setting.name}", hint=f"known settings: {', '.join(KNOWN_SETTINGS)}")
    try:
        definition.check(setting.spec.value)
    except ValueError as error:
        raise InvalidInput(f"{setting.name}: {error}", field="spec.value", hint=definition.description) from None


def _check_patterns(patterns: Sequence[str], field: str) -> None:
    for index, pattern in enumerate(patterns):
        try:
            check_pattern(pattern)
        except ValueError as error:
            raise InvalidInput(str(error), field=f"{field}[{index}]") from None


def _target_for(name: str, targets: Sequence[BackupTarget]) -> str:
    """The named target, else the default one, else the only one."""
    names = sorted(target.name for target in targets)
    known = f"there are: {', '.join(names)}" if names else "make one first: tidegate target create NAME URL"
    if name:
        if name not in names:
            raise NotFound(f"there is no backup target {name}", hint=known)
        return name
    chosen = sorted(target.name for target in targets if target.spec.default) or names
    if len(chosen) != 1:
        why = "there is no backup target" if not chosen else "there are several backup targets and none is the default"
        raise InvalidInput(f"{why}; say which one to use", field="spec.storageLocation", hint=known)
    return chosen[0]
