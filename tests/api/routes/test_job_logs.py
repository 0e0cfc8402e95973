"""The log of a job over HTTP: the lines that the command line prints."""

import pytest

from tidegate.model.backups.backup import BackupPhase
from tidegate.model.transfers.transfer import BACKUP_LABEL, TransferPhase
from tidegate.testing.clock import BEGINNING
from tidegate.testing.resources.builders import a_backup, a_transfer
from tidegate.testing.resources.put import put


async def test_a_log_has_the_job_and_its_volumes_and_says_what_went_wrong(api, services):
    backup = await put(services.store, a_backup("nightly", "shop", phase=BackupPhase.IN_PROGRESS))
    upload = a_transfer("up", phase=TransferPhase.FAILED, volume=("shop", "db"), message="the disk is full")
    upload = upload.with_metadata(labels={BACKUP_LABEL: backup.metadata.uid}, uid="")
    await put(services.store, upload.with_status(start_timestamp=BEGINNING, completion_timestamp=BEGINNING))
    await services.store.create(a_transfer("other").with_metadata(uid=""))

    answer = await api.get("/v1/backups/nightly/log")

    lines = [(one["who"], one["what"], one["bad"]) for one in answer.json()["data"]]
    assert lines == [
        ("backup nightly", "Created", False),
        ("shop/db", "Started", False),
        ("shop/db", "Failed", True),
    ]
    assert answer.json()["data"][-1]["message"] == "the disk is full"


@pytest.mark.parametrize("kind", ["backups", "restores", "verifications"])
async def test_a_job_that_does_not_exist_has_no_log(api, kind):
    assert (await api.get(f"/v1/{kind}/nothing/log")).status_code == 404
