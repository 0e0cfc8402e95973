"""What passes between a server and its movers: read back as it was, and refused with a sentence where it is wrong."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from tidegate.errors import InvalidInput
from tidegate.model.transfers.mover_job import (
    CompressionChoice,
    DownloadJob,
    ErrorReport,
    ProgressReport,
    RemoveJob,
    ResultReport,
    TargetAccess,
    UploadJob,
    read_job,
    read_report,
)
from tidegate.model.transfers.transfer import TransferStatus
from tidegate.model.transfers.transfer_progress import TransferProgress, TransferResult
from tidegate.model.volumes.kept_place import KeptPlace
from tidegate.model.volumes.volume_kind import VolumeKind

TARGET = TargetAccess(url="s3://bucket@eu/", credentials={"AWS_SECRET_ACCESS_KEY": "hunter2"})
UPLOAD = UploadJob(
    target=TARGET,
    store_volume="shop.db",
    store_backup="backup-1",
    volume_kind=VolumeKind.IMAGE,
    path="/srv/ö",
    labels={"a": "b"},
    snapshot_name="s",
    started_at=datetime(2026, 1, 31, 12, tzinfo=UTC),
    compression=CompressionChoice.GZIP,
    block_mib=16,
    excludes=("*.tmp",),
)
DOWNLOAD = DownloadJob(
    target=TARGET, store_volume="v", store_backup="b", volume_kind=VolumeKind.DIRECTORY, path="/x", force=True
)
REMOVE = RemoveJob(target=TARGET, store_volume="v", store_backups=("a", "b"))
PROGRESS = ProgressReport(progress=TransferProgress(stage="uploading", bytes_done=1, bytes_per_second=0.5))
RESULT = ResultReport(result=TransferResult(url="u", size=3, new_bytes=2, warnings=("w",)))


KEEPING_OUT = replace(DOWNLOAD, keep_out=(KeptPlace(path="/srv/ö", what="the store of target usb"),))


@pytest.mark.parametrize("job", [UPLOAD, DOWNLOAD, KEEPING_OUT, REMOVE])
def test_a_job_is_read_back_as_it_was_written(job):
    assert read_job(job.to_json().encode()) == job


@pytest.mark.parametrize("report", [PROGRESS, RESULT, ErrorReport(code="NoSpace", message="m", hint="h")])
def test_a_report_is_read_back_as_it_was_written(report):
    assert read_report(report.to_json().encode()) == report


def test_fields_may_also_be_given_by_the_names_that_the_code_has():
    wire = json.loads(REMOVE.to_json())
    wire["store_volume"] = wire.pop("storeVolume")

    assert read_job(json.dumps(wire).encode()) == REMOVE


WRONG = [
    ({"action": "dance"}, "action should be upload or download or remove"),
    ({"path": None}, "path should be a text"),
    ({"labels": {"a": 1}}, "labels should be a text"),
    ({"labels": []}, "labels should be an object"),
    ({"excludes": "*"}, "excludes should be a list"),
    ({"blockMib": 3}, "block_mib should be 2 or 16"),
    ({"blockMib": 2.0}, "block_mib should be 2 or 16"),
    ({"volumeKind": "tape"}, "volume_kind should be directory or image or device or claim"),
    ({"volumeKind": []}, "volume_kind should be directory or image or device or claim"),
    ({"startedAt": "yesterday"}, "started_at should be a time with its zone, such as 2026-01-31T12:00:00Z"),
    ({"startedAt": "2026-01-31T12:00:00"}, "started_at should be a time with its zone, such as 2026-01-31T12:00:00Z"),
    ({"target": {}}, "target.url is missing"),
    ({"target": {"url": "u", "uri": "u"}}, "there is no field uri in target"),
    ({"colour": "blue"}, "there is no field colour"),
]


@pytest.mark.parametrize(("changes", "sentence"), WRONG)
def test_a_wrong_job_is_refused_with_a_sentence(changes, sentence):
    line = json.dumps(json.loads(UPLOAD.to_json()) | changes).encode()

    with pytest.raises(InvalidInput) as refused:
        read_job(line)

    assert refused.value.message == sentence


@pytest.mark.parametrize("line", [b"", b"nonsense\n", b"[]", b"1", b"\xff", b"[" * 100_000])
def test_what_is_no_job_at_all_is_refused(line):
    with pytest.raises(InvalidInput):
        read_job(line)


def test_credentials_show_neither_in_a_representation_nor_in_a_refusal():
    line = UPLOAD.to_json().replace('"credentials":{', '"credentials":{"x":1,').encode()

    with pytest.raises(InvalidInput) as refused:
        read_job(line)

    assert "hunter2" not in repr(UPLOAD)
    assert "hunter2" not in str(refused.value)


def test_a_status_keeps_progress_and_result_under_the_names_of_the_wire():
    status = TransferStatus(progress=PROGRESS.progress, result=RESULT.result)

    assert status.to_wire()["progress"] == {"stage": "uploading", "bytesDone": 1, "bytesPerSecond": 0.5}
    assert TransferStatus.model_validate_json(status.to_json()) == status
