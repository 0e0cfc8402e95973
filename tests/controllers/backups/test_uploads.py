"""What an upload is made of."""

import pytest

from tidegate.controllers.backups.uploads import upload_for
from tidegate.testing.resources.builders import a_backup, a_volume


@pytest.mark.parametrize("node", [None, "node-a"])
def test_an_upload_runs_where_the_volume_is(node):
    volume = a_volume("shop", "db")

    upload = upload_for(a_backup("nightly", "shop"), volume.with_spec(node=node))

    assert upload.spec.node == node
