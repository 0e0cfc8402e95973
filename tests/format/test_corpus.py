"""Whatever is made of real records, a decoder reads it or calls it damaged, and what it reads it can write again.

`corpus/` holds the records to begin with, and every mutant that ever broke a decoder. A mutant that breaks one now is
made as small as possible and saved there. TIDEGATE_FUZZ_EXAMPLES says how many each decoder meets, twice: the same ones
in each run, and fresh ones.
"""

import contextlib
import os
import zlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tidegate.errors import DamagedMetadata, InvalidInput, WrongKey
from tidegate.format.blocks.encryption_key import EncryptionKey
from tidegate.format.cfgs.backup_cfg import BackupCfg
from tidegate.format.cfgs.lock_file import LockFile
from tidegate.format.cfgs.paths import is_name
from tidegate.format.cfgs.sealed_cfg import open_cfg
from tidegate.format.cfgs.system_backup_cfg import ArchivePlace, SystemBackupCfg
from tidegate.format.cfgs.volume_cfg import VolumeCfg
from tidegate.format.cfgs.volume_index import decode_index, encode_index
from tidegate.format.trees.entry import check_path
from tidegate.format.trees.manifest import decode_manifest, split_lines
from tidegate.format.trees.packed_tree import TreeMark
from tidegate.testing.corpus import Corpus, mutants

KEY = EncryptionKey(bytes(32))
CORPUS = Path(__file__).parent / "corpus"
EXAMPLES = int(os.environ.get("TIDEGATE_FUZZ_EXAMPLES", "700"))
END = 1000
VOLUME = "shop.db"


def backup_cfg(body):
    cfg = BackupCfg.decode(body)
    assert BackupCfg.decode(cfg.encode()) == cfg
    TreeMark.of(cfg.parameters, image_size=END)
    if "tidegate.dev/encryption" in cfg.parameters:
        open_cfg(cfg, KEY, what="cfg")


def volume_cfg(body):
    cfg = VolumeCfg.decode(body)
    assert VolumeCfg.decode(cfg.encode()) == cfg
    assert not cfg.last_backup_name or is_name(cfg.last_backup_name)


def lock(body):
    found = LockFile.decode(body)
    assert LockFile.decode(found.encode()) == found


def system_backup_cfg(body):
    place = ArchivePlace("system-1", "1.0")
    cfg = SystemBackupCfg.decode(body, place)
    assert SystemBackupCfg.decode(cfg.encode(), place) == cfg


def manifest(body):
    entries = list(decode_manifest(split_lines([body]), content_end=END))
    for entry in entries:
        check_path(entry.path)
        assert all(0 <= extent.image_offset <= END - extent.length for extent in entry.extents)
    again = b"".join(entry.encode() for entry in entries)
    assert list(decode_manifest(split_lines([again]), content_end=END)) == entries


def index(body):
    entries = decode_index(body, volume=VOLUME)
    assert decode_index(encode_index(VOLUME, entries), volume=VOLUME) == entries


def index_text(body):
    """Inside of the compression, where a mutant would hardly ever get."""
    packer = zlib.compressobj(1, zlib.DEFLATED, 31)
    index(packer.compress(body) + packer.flush())


DECODERS = [backup_cfg, volume_cfg, lock, system_backup_cfg, manifest, index, index_text]


def check(decoder, body):
    """Any other error, and every broken promise, is what the fuzzer looks for."""
    with contextlib.suppress(DamagedMetadata, WrongKey, InvalidInput):
        decoder(body)


@pytest.mark.parametrize("decoder", DECODERS, ids=lambda decoder: decoder.__name__)
def test_what_once_broke_a_decoder_does_not_break_it_again_and_real_records_are_read(decoder):
    corpus = Corpus(CORPUS / decoder.__name__)
    read = 0
    for file in corpus.files():
        check(decoder, file.read_bytes())
        if file.name.startswith("good-"):
            decoder(file.read_bytes())
            read += 1
    assert read > 0


@pytest.mark.parametrize("same_each_time", [True, False], ids=["the same ones", "fresh ones"])
@pytest.mark.parametrize("decoder", DECODERS, ids=lambda decoder: decoder.__name__)
def test_mutants_of_real_records_are_read_or_damaged(decoder, same_each_time):
    corpus = Corpus(CORPUS / decoder.__name__)
    smallest = []

    @settings(
        max_examples=EXAMPLES,
        derandomize=same_each_time,
        database=None,  # the corpus is what is kept
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def fuzz(data):
        body = data.draw(mutants(corpus.bodies()))
        try:
            check(decoder, body)
        except Exception:
            smallest[:] = [body]  # hypothesis ends with the smallest one
            raise

    try:
        fuzz()
    finally:
        for body in smallest:
            corpus.save(body)
