"""Which of a backup's volumes somebody wants to look into."""

import pytest

from tidegate.decide.backups.tree_choice import tree_to_browse
from tidegate.errors import InvalidInput, NotFound, Refused
from tidegate.model.resource import Condition, Metadata
from tidegate.model.transfers.transfer import DATA_REMOVED, DataUpload, PodVolumeBackup, TransferPhase, TransferSpec
from tidegate.model.volumes.volume_kind import VolumeKind
from tidegate.testing.resources.builders import a_backup


def upload(volume, *, kind=PodVolumeBackup, phase=TransferPhase.COMPLETED, name="", removed=False):
    spec = TransferSpec(
        volume_namespace="shop",
        volume_name=volume,
        volume_kind=VolumeKind.DIRECTORY,
        path="/data",
        target="store",
        store_volume=f"shop.{volume}",
        store_backup="backup-1",
    )
    made = kind(metadata=Metadata(name=name or f"b-{volume}"), spec=spec).with_status(phase=phase)
    if removed:
        gone = Condition(type=DATA_REMOVED, status="True", reason="AllDeletedFromStore")
        made = made.with_status(conditions=(gone,))
    return made


def test_the_only_tree_needs_no_name():
    found = tree_to_browse(a_backup("b"), [upload("files"), upload("db", kind=DataUpload)], "")

    assert found.spec.volume_name == "files"


def test_one_of_several_is_chosen_by_name():
    found = tree_to_browse(a_backup("b"), [upload("files"), upload("www")], "shop/www")

    assert found.spec.volume_name == "www"


def test_of_several_attempts_the_one_that_was_finished_is_looked_into():
    failed = upload("files", name="b-2", phase=TransferPhase.FAILED)

    assert tree_to_browse(a_backup("b"), [upload("files", name="b-1"), failed], "").metadata.name == "b-1"


@pytest.mark.parametrize(
    ("uploads", "volume", "error", "sentence"),
    [
        ([upload("files"), upload("www")], "", InvalidInput, "holds several file trees"),
        ([upload("files")], "shop/db", NotFound, "has no volume shop/db"),
        ([upload("db", kind=DataUpload)], "shop/db", Refused, "is an image"),
        ([upload("db", kind=DataUpload)], "", Refused, "holds no file tree"),
        ([upload("files", phase=TransferPhase.IN_PROGRESS)], "", Refused, "its upload is InProgress"),
        ([upload("files", removed=True)], "shop/files", Refused, "was deleted from the store"),
        ([], "", Refused, "holds no file tree"),
    ],
)
def test_what_cannot_be_looked_into_is_told_in_a_sentence(uploads, volume, error, sentence):
    with pytest.raises(error, match=sentence):
        tree_to_browse(a_backup("b"), uploads, volume)
