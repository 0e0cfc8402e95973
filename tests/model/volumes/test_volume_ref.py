"""Where a volume is: read from what is stored, and written to it."""

from datetime import UTC, datetime
from typing import get_args

import pytest
from pydantic import ValidationError

from tidegate.model.transfers.mover_job import DownloadJob, TargetAccess, UploadJob, read_job
from tidegate.model.transfers.transfer import TransferSpec
from tidegate.model.volumes.volume import VolumeSpec
from tidegate.model.volumes.volume_kind import VolumeKind
from tidegate.model.volumes.volume_ref import (
    Claim,
    Device,
    Directory,
    Image,
    VolumeRef,
    copy_at,
    volume_fields,
    volume_ref,
)
from tidegate.testing.resources.volume_refs import ONE_OF_EACH, a_volume_at

PLACE = {"target": "store", "store_volume": "shop.db", "store_backup": "backup-1"}
IN_STORE = {**PLACE, "target": TargetAccess(url="file:///store")}

each = pytest.mark.parametrize("ref", ONE_OF_EACH, ids=lambda ref: ref.kind)


def test_every_kind_has_one_member_and_tests_know_one_of_each():
    assert {type(ref) for ref in ONE_OF_EACH} == set(get_args(VolumeRef))
    assert [ref.kind for ref in ONE_OF_EACH] == list(VolumeKind)


@each
def test_a_spec_of_a_volume_names_it(ref):
    spec = VolumeSpec.model_validate({ref.kind: ref.address})

    assert spec.ref == ref
    assert spec.to_wire() == {ref.kind: ref.address, "excludes": []}


@each
def test_a_transfer_of_a_volume_stores_its_kind_and_its_address(ref):
    volume = a_volume_at(ref)

    spec = TransferSpec.of(volume.with_spec(node="node-a"), **PLACE)

    assert (spec.ref, spec.volume_kind, spec.path) == (ref, ref.kind, ref.address)
    assert (spec.volume_namespace, spec.volume_name, spec.node) == ("shop", "db", "node-a")
    assert (spec.target, spec.store_volume, spec.store_backup) == ("store", "shop.db", "backup-1")
    assert TransferSpec.model_validate_json(spec.to_json()).ref == ref


@each
def test_a_transfer_can_go_to_any_other_place_or_nowhere(ref):
    spec = TransferSpec.of(a_volume_at(Image("/old")), **PLACE)

    assert spec.at(ref).ref == ref
    assert (spec.at(None).ref, spec.at(None).path, spec.at(None).volume_kind) == (None, "", VolumeKind.IMAGE)


@each
def test_a_job_of_a_mover_carries_it_over_the_wire(ref):
    upload = UploadJob(
        **IN_STORE, **volume_fields(ref), snapshot_name="s", started_at=datetime(2026, 1, 31, tzinfo=UTC)
    )
    download = DownloadJob(**IN_STORE, **volume_fields(ref))

    assert read_job(upload.to_json().encode()).ref == read_job(download.to_json().encode()).ref == ref


def test_a_device_is_copied_to_a_file_and_all_that_holds_files_to_a_directory():
    copies = [copy_at("/copy", kind) for kind in (ref.kind for ref in ONE_OF_EACH)]

    assert copies == [Directory("/copy"), Image("/copy"), Image("/copy"), Directory("/copy")]


def test_kinds_with_the_same_path_are_different_volumes():
    assert len({Directory("/x"), Image("/x"), Device("/x"), Directory("/x")}) == 3


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ({}, "exactly one of directory, image, device and claim"),
        ({"claim": "shop/db", "device": "/dev/sdz"}, "exactly one of directory, image, device and claim"),
        ({"claim": "db"}, "claim must be NAMESPACE/NAME, not 'db'"),
        ({"claim": "Shop/db"}, "'Shop' is not a namespace name"),
        ({"claim": "shop/"}, "'' is not a name"),
        ({"claim": "shop/a/b"}, "'a/b' is not a name"),
        ({"directory": "data"}, "directory must be an absolute path, not 'data'"),
        ({"image": "/a", "excludes": ["*"]}, "excludes are for a directory; an image is backed up as a whole"),
    ],
)
def test_a_spec_that_names_no_volume_is_refused_with_a_sentence(spec, sentence):
    with pytest.raises(ValidationError, match=sentence):
        VolumeSpec.model_validate(spec)


def test_only_the_address_of_a_claim_can_be_malformed():
    assert volume_ref(VolumeKind.CLAIM, "shop/db") == Claim("shop", "db")
    with pytest.raises(ValueError, match="NAMESPACE/NAME"):
        volume_ref(VolumeKind.CLAIM, "db")
