"""What may come in: checks and defaults for new resources that need more than the resource itself.

A mistake is told to the person who makes it, when it is made: not hours later at the head of a queue.
"""

from collections.abc import Sequence
from datetime import timedelta

from tidegate.decide.backups.item_blocks import ordered_volumes
from tidegate.decide.queue.overlap import check_pattern
from tidegate.decide.system.schedules import template_of
from tidegate.errors import InvalidInput, NotFound, UserError
from tidegate.model.backups.backup import Backup, BackupSpec
from tidegate.model.backups.existing_data import ExistingData
from tidegate.model.names import LONGEST_LABEL, check_namespace
from tidegate.model.resource import Metadata, Resource
from tidegate.model.restores.restore import RestoreSpec
from tidegate.model.schedules.cron import read_fields, read_zone
from tidegate.model.schedules.schedule import Schedule
from tidegate.model.setting import KNOWN_SETTINGS, Setting
from tidegate.model.stores.target import BackupTarget
from tidegate.model.transfers.node import Node

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

# In bytes. With what a status may hold beside its pages, no resource comes near the 256 KiB that are the limit for all.
LARGEST_REQUEST = 128 * 1024

# The ttl of backups whose schedule has retention rules and names no ttl: the default would end what they keep.
_AS_LONG_AS_THE_RULES_SAY = timedelta(days=36_500)


def admit_backup(backup: Backup, targets: Sequence[BackupTarget]) -> Backup:
    """The backup with its target written in; raises InvalidInput or NotFound with the field that is wrong."""
    spec = backup.spec
    _check_patterns(spec.included_namespaces, "spec.includedNamespaces")
    _check_patterns(spec.excluded_namespaces, "spec.excludedNamespaces")
    for index, name in enumerate(spec.included_volumes):
        if name.count("/") != 1 or not all(name.split("/")):
            field = f"spec.includedVolumes[{index}]"
            raise InvalidInput(f"{name!r} is not a volume; write NAMESPACE/NAME", field=field)
    for field in _NOT_YET:
        if getattr(spec, field) != getattr(_PLAIN, field):
            wire = BackupSpec.model_fields[field].alias or field
            raise InvalidInput(f"spec.{wire} is not supported yet; leave it out", field=f"spec.{wire}")
    if spec.queue_ticket is not None:
        message = "spec.queueTicket cannot be set; leave it out, and move the backup once it waits"
        raise InvalidInput(message, field="spec.queueTicket", hint="tidegate queue move NAME --to PLACE")
    for number, hook in enumerate(spec.hooks.resources):
        where = f"spec.hooks.resources[{number}]"
        _check_patterns(hook.included_namespaces, f"{where}.includedNamespaces")
        _check_patterns(hook.excluded_namespaces, f"{where}.excludedNamespaces")
        if not hook.pre and not hook.post:
            raise InvalidInput(f"hook {hook.name} does nothing: give pre, post or both", field=where)
    ordered_volumes(spec.ordered_resources)
    if spec.label_selector and spec.or_label_selectors:
        raise InvalidInput("give labelSelector or orLabelSelectors, not both", field="spec.labelSelector")
    return backup.with_spec(storage_location=target_for(spec.storage_location, targets))


def admit_schedule(schedule: Schedule, targets: Sequence[BackupTarget]) -> Schedule:
    """The schedule as it is stored; raises InvalidInput or NotFound with the field that is wrong."""
    spec = schedule.spec
    if len(schedule.name) > LONGEST_LABEL:
        # Its backups carry the name as a label.
        message = f"the name of a schedule has at most {LONGEST_LABEL} characters, this one has {len(schedule.name)}"
        raise InvalidInput(message, field="metadata.name")
    for wire, read, value in (("schedule", read_fields, spec.schedule), ("timezone", read_zone, spec.timezone)):
        try:
            read(value)
        except ValueError as error:
            raise InvalidInput(str(error), field=f"spec.{wire}") from None
    if spec.verification is not None:
        try:
            read_fields(spec.verification.schedule)
        except ValueError as error:
            raise InvalidInput(str(error), field="spec.verification.schedule") from None
    # One that makes no backups needs no target: whose target is gone must be able to pause.
    try:
        _check_template(template_of(schedule), targets, needs_target=not spec.paused)
    except InvalidInput as error:
        if spec.system_backup is None:
            raise
        raise InvalidInput(error.message, field="spec.systemBackup.target", hint=error.hint) from None
    rules_decide = spec.retention is not None and spec.retention.keeps_something
    if rules_decide and "ttl" not in spec.template.model_fields_set:
        return schedule.with_spec(template=spec.template.replace(ttl=_AS_LONG_AS_THE_RULES_SAY))
    return schedule


def template_refusal(template: BackupSpec, targets: Sequence[BackupTarget]) -> str | None:
    """Why no backup can be made of the template as things are now, if so."""
    try:
        _check_template(template, targets, needs_target=True)
    except UserError as error:
        return error.message
    return None


def _check_template(template: BackupSpec, targets: Sequence[BackupTarget], *, needs_target: bool) -> None:
    if template.cancel:
        raise InvalidInput("a template cannot be cancelled; pause the schedule", field="spec.template.cancel")
    try:
        admit_backup(Backup(metadata=Metadata(name="template"), spec=template), targets)
    except NotFound:
        if needs_target:
            raise
    except InvalidInput as error:
        if error.field == "spec.storageLocation" and not needs_target:
            return
        field = error.field.replace("spec.", "spec.template.", 1)
        raise InvalidInput(error.message.replace("spec.", "spec.template."), field=field, hint=error.hint) from None


def admit_restore(spec: RestoreSpec) -> None:
    """Raises InvalidInput with the field that is wrong."""
    _check_patterns(spec.included_namespaces, "spec.includedNamespaces")
    _check_patterns(spec.excluded_namespaces, "spec.excludedNamespaces")
    for old, new in spec.namespace_mapping.items():
        for name in (old, new):
            try:
                check_namespace(name)
            except ValueError as error:
                raise InvalidInput(str(error), field="spec.namespaceMapping") from None
    if spec.included_paths and spec.existing_data is ExistingData.OVERWRITE:
        # A tree is swapped in as a whole: all that was not selected would be lost.
        raise InvalidInput(
            "selected paths cannot overwrite a volume, because the rest of it would be lost",
            field="spec.includedPaths",
            hint="restore them to another place (--to) and copy what you need",
        )
    if spec.backup_url:
        for field in ("included_namespaces", "excluded_namespaces", "included_volumes", "volume_order"):
            if getattr(spec, field):
                wire = RestoreSpec.model_fields[field].alias or field
                message = f"a backup URL names one volume; leave spec.{wire} out"
                raise InvalidInput(message, field=f"spec.{wire}")


def check_node(name: str | None, nodes: Sequence[Node]) -> None:
    """Raises NotFound for a node that nobody knows: what is on it would wait for ever."""
    names = sorted(node.name for node in nodes)
    if name is not None and name not in names:
        raise NotFound(f"there is no node {name}", hint=f"there are: {', '.join(names)}" if names else "leave it out")


def check_size(resource: Resource) -> None:
    """Raises InvalidInput for more than a store may keep of one resource beside its status."""
    size = len(resource.to_json().encode())
    if size > LARGEST_REQUEST:
        raise InvalidInput(
            f"the {resource.kind} has {size} bytes; it may have {LARGEST_REQUEST}",
            hint="choose volumes by namespace or label instead of naming each",
        )


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


def target_for(name: str, targets: Sequence[BackupTarget], *, field: str = "spec.storageLocation") -> str:
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
        raise InvalidInput(f"{why}; say which one to use", field=field, hint=known)
    return chosen[0]
