"""The cfg of an encrypted backup: marked with scheme and key, its private part sealed, all of it bound together.

What Longhorn and a listing without the key need stays readable: names, labels, times, sizes, offsets. What tells about
the content (checksums of a manifest, names of files) is sealed. The seal covers the readable part too: nobody without
the key can move a block, drop one, or change a size, and have it restored.
"""

import base64
import binascii
import json
from dataclasses import replace

from tidegate.errors import DamagedMetadata
from tidegate.format.blocks.encryption_key import EncryptionKey
from tidegate.format.blocks.encryption_mark import check_mark, mark_of
from tidegate.format.blocks.sealed_blocks import Sealer
from tidegate.format.cfgs.backup_cfg import BackupCfg
from tidegate.format.cfgs.go_json import encode_json, sorted_map

ENCRYPTION = "tidegate.dev/encryption"
_SEAL = "tidegate.dev/seal"
# Everything else that a source leaves for its restore is private: new parameters are so until somebody decides.
_READABLE = frozenset(
    {
        "backup-block-size",
        "backup-mode",
        "tidegate.dev/size",
        "tidegate.dev/content",
        "tidegate.dev/manifest-version",
        "tidegate.dev/manifest-offset",
        "tidegate.dev/manifest-length",
        "tidegate.dev/tree-bytes",
        "tidegate.dev/file-mode",
        "tidegate.dev/file-owner",
    }
)


def is_encrypted(cfg: BackupCfg) -> bool:
    """Whether its blocks need a key."""
    return ENCRYPTION in cfg.parameters


def check_key(cfg: BackupCfg, key: EncryptionKey | None) -> None:
    """Raise WrongKey with one sentence unless `key` is the one that the backup needs; plain backups need none."""
    if not is_encrypted(cfg):
        return
    what = f"backup {cfg.name} of volume {cfg.volume_name}"
    check_mark(cfg.parameters[ENCRYPTION], key, what=what)


def opens(cfg: BackupCfg, key: EncryptionKey) -> bool:
    """Whether the cfg is sealed with this key."""
    return cfg.parameters.get(ENCRYPTION) == mark_of(key)


def seal_cfg(cfg: BackupCfg, key: EncryptionKey) -> BackupCfg:
    """The cfg as it is stored. Doing it again gives the same."""
    private = {name: text for name, text in cfg.parameters.items() if name not in _READABLE | {ENCRYPTION, _SEAL}}
    readable = {name: text for name, text in cfg.parameters.items() if name in _READABLE}
    marked = replace(cfg, parameters=readable | {ENCRYPTION: mark_of(key)})
    seal = _sealer(cfg, key).seal(encode_json(sorted_map(private)), bound_to=_bound(marked))
    return replace(marked, parameters={**marked.parameters, _SEAL: base64.b64encode(seal).decode()})


def open_cfg(cfg: BackupCfg, key: EncryptionKey, *, what: str) -> BackupCfg:
    """The cfg as it was before it was sealed, still marked; raises DamagedMetadata if anything in it was changed."""
    check_key(cfg, key)
    rest = {name: text for name, text in cfg.parameters.items() if name != _SEAL}
    marked = replace(cfg, parameters=rest)
    try:
        seal = base64.b64decode(cfg.parameters.get(_SEAL, ""), validate=True)
        private = json.loads(str(_sealer(cfg, key).open(seal, bound_to=_bound(marked)), "utf-8"))
    except (ValueError, binascii.Error) as error:
        raise DamagedMetadata(f"{what} was changed after it was encrypted: {error}") from error
    return replace(marked, parameters={**private, **rest})


def _sealer(cfg: BackupCfg, key: EncryptionKey) -> Sealer:
    return Sealer(key, purpose="cfg", volume=cfg.volume_name)


def _bound(cfg: BackupCfg) -> bytes:
    """What the seal covers. Part of the format: what a later version adds to cfgs is not to be added here."""
    return encode_json(
        [
            cfg.name,
            cfg.volume_name,
            cfg.compression,
            cfg.snapshot_name,
            cfg.snapshot_created_at,
            cfg.created_time,
            sorted_map(cfg.labels),
            sorted_map(cfg.parameters),
            [[offset, name] for offset, name in sorted(cfg.blocks)],
        ]
    )
