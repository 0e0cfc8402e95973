"""What a mover gets for a transfer."""

import pytest

from tidegate.controllers.movers.jobs import MoverMeans, moving_job
from tidegate.model.transfers.mover_job import DownloadJob, TargetAccess, UploadJob
from tidegate.model.transfers.transfer import VERIFICATION_LABEL, DataDownload, DataUpload, TransferPhase
from tidegate.model.volumes.kept_place import data_directory
from tidegate.testing.resources.builders import THEN, a_transfer
from tidegate.testing.resources.volume_refs import ONE_OF_EACH

TARGET = TargetAccess(url="file:///store")
MEANS = MoverMeans(
    memory_bytes=1, upload_bytes_per_second=2, download_bytes_per_second=3, keep_out=(data_directory("/var/lib"),)
)


@pytest.mark.parametrize(("kind", "job_kind"), [(DataUpload, UploadJob), (DataDownload, DownloadJob)])
@pytest.mark.parametrize("ref", ONE_OF_EACH, ids=lambda ref: ref.kind)
def test_a_mover_moves_the_volume_of_its_transfer_within_its_means(ref, kind, job_kind):
    transfer = a_transfer("one", TransferPhase.ACCEPTED, kind=kind).with_status(accepted_timestamp=THEN)

    job = moving_job(transfer.replace(spec=transfer.spec.at(ref)), TARGET, MEANS)

    assert (type(job), job.ref, job.target) == (job_kind, ref, TARGET)
    assert (job.store_volume, job.store_backup) == (transfer.spec.store_volume, transfer.spec.store_backup)
    assert (job.memory_bytes, job.upload_bytes_per_second, job.download_bytes_per_second) == (1, 2, 3)


def test_only_a_verification_restores_into_a_place_that_is_kept_out_of():
    download = a_transfer("one", TransferPhase.ACCEPTED, kind=DataDownload)
    proving = download.with_metadata(labels={VERIFICATION_LABEL: "uid"})

    assert moving_job(download, TARGET, MEANS).keep_out == MEANS.keep_out
    assert moving_job(proving, TARGET, MEANS).keep_out == ()
