"""A client made for Longhorn, unchanged: schemas first, actions as methods, no Content-Type."""

import json

import httpx2
import pytest

from api.catalogue_world import furnish  # type: ignore[import-not-found]  # pytest has tests/ on its path
from api.longhorn_client import ApiError, LonghornClient  # type: ignore[import-not-found]  # pytest has tests/ on its path
from tidegate.api.application import build_application
from tidegate.catalogue.database import SqliteCatalogue
from tidegate.decide.access.forwarded import parse_networks
from tidegate.model.stores.target import BackupTarget
from tidegate.testing.machine.documented import DocumentedTransport


@pytest.fixture
async def http(services, tmp_path):
    catalogue = SqliteCatalogue.open(tmp_path / "catalogue.sqlite")
    await furnish(services, catalogue)
    transport = DocumentedTransport(build_application(services), raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url="http://test") as http:
        yield http
    catalogue.close()


@pytest.fixture
async def client(http):
    return await LonghornClient(http, "secret").connect("http://test/v1/schemas")


async def test_it_lists_volumes_and_their_backups_by_what_the_schemas_say(client):
    volumes = (await client.list_backupVolume()).data
    web = next(volume for volume in volumes if volume.volumeName == "web")

    assert [backup.name for backup in (await web.backupList()).data] == ["w-2", "w-1"]
    assert (await web.backupGet(name="w-1")).snapshotName == "snap-w-1"
    found = (await web.backupListByVolume(Name="db")).data
    assert sorted(backup.backupTargetName for backup in found) == ["far", "near", "near", "near"]
    assert (await client.by_id_backupVolume("web")).id == web.id
    assert await client.by_id_backupVolume("nothing") is None


async def test_it_deletes_a_backup_and_then_the_volume(client, services):
    web = await client.by_id_backupVolume("web")

    assert (await web.backupDelete(name="w-1")).type == "backupVolume"
    assert [backup.name for backup in (await web.backupList()).data] == ["w-2"]
    await client.delete(web)
    assert await client.by_id_backupVolume("web") is None
    assert {one.spec.backups for one in await services.deletions.list()} == {("w-1",), ()}


async def test_what_goes_wrong_is_told_by_status_and_message(client):
    web = await client.by_id_backupVolume("web")

    with pytest.raises(ApiError, match=r"404.*has no backup 'w-7'"):
        await web.backupGet(name="w-7")
    with pytest.raises(ApiError, match="422: empty backup name is not allowed"):
        await web.backupGet(name="")
    with pytest.raises(ApiError, match="409: 2 targets have a volume db"):
        await client.by_id_backupVolume("db")


async def test_it_asks_for_syncs_of_volumes_and_targets(client, services, http):
    near = await client.by_id_backupTarget("near")
    web = await client.by_id_backupVolume("web")

    assert (await web.backupVolumeSync(syncBackupVolume=True)).id == "web@far"
    await near.backupTargetSync(syncBackupTarget=False)
    assert (await services.store.get(BackupTarget, "near")).spec.sync_requested_at is None
    await near.backupTargetSync(syncBackupTarget=True)
    assert services.syncs.asked == [("far", "web")]
    assert (await services.store.get(BackupTarget, "near")).spec.sync_requested_at == services.clock.now()
    await client._ask("PUT", "http://test/v1/backuptargets", {"syncAllBackupTargets": True})
    assert (await services.store.get(BackupTarget, "far")).spec.sync_requested_at == services.clock.now()


async def test_a_target_has_the_flat_fields_beside_our_own(client, http):
    near = await client.by_id_backupTarget("near")

    assert (near.type, near.backupTargetURL, near.pollInterval, near.available) == (
        "backupTarget",
        "file:///near",
        "5m0s",
        False,
    )
    assert (near.metadata.name, near.spec.url) == ("near", "file:///near")


async def test_it_makes_a_target_and_changes_it(client, services):
    made = await client.create_backupTarget(Name="third", BackupTargetURL="file:///third", pollInterval="300")
    again = await client.create_backupTarget(name="third", backupTargetURL="file:///third/")
    changed = await again.backupTargetUpdate(name="third", pollInterval="0")

    assert (made.name, made.pollInterval, again.id) == ("third", "5m0s", "third")
    assert (changed.pollInterval, changed.backupTargetURL) == ("0s", "file:///third")
    assert (await client.update(changed, pollInterval="1h0m0s")).pollInterval == "1h0m0s"
    with pytest.raises(ApiError, match=r"409.*already names another store"):
        await client.create_backupTarget(name="third", backupTargetURL="file:///elsewhere")
    with pytest.raises(ApiError, match=r"422.*is not a duration"):
        await changed.backupTargetUpdate(pollInterval="soon")


async def test_a_target_without_a_url_is_refused_with_what_to_do_instead(client, services):
    """Longhorn takes it as a wish to forget all that the store holds; here that is to delete the target."""
    near = await client.by_id_backupTarget("near")

    with pytest.raises(ApiError, match=r"422.*backupTargetURL is empty"):
        await near.backupTargetUpdate(backupTargetURL="")

    assert (await services.store.get(BackupTarget, "near")).spec.url == "file:///near"


async def test_what_was_read_of_a_target_can_be_sent_back(http):
    login = {"Authorization": "Bearer secret"}
    read = (await http.get("/v1/backuptargets/near", headers=login)).json()
    read["spec"]["pollInterval"] = "10m"

    answer = await http.put("/v1/backuptargets/near", headers=login, json=read)
    misspelt = await http.put("/v1/backuptargets/near", headers=login, json={**read, "specs": {}})

    assert (answer.status_code, answer.json()["pollInterval"]) == (200, "10m0s")
    assert (misspelt.status_code, misspelt.json()["detail"]) == (422, "specs is not a known field")


@pytest.mark.parametrize(
    ("headers", "base"),
    [
        ({}, "http://test"),
        ({"Host": "backups.example:9500"}, "http://backups.example:9500"),
        ({"X-Forwarded-Proto": "https", "X-Forwarded-Host": "a.example, b.example"}, "https://a.example"),
        ({"X-Forwarded-Proto": "https", "X-Forwarded-Port": "8443"}, "https://test:8443"),
        ({"X-Forwarded-Proto": "https", "X-Forwarded-Port": "443"}, "https://test"),
        ({"X-API-request-url": "https://ui.example/v1/x", "X-Forwarded-Host": "no.example"}, "https://ui.example"),
        ({"X-API-request-url": "javascript:alert(1)", "X-Forwarded-Host": 'a"/><script>'}, "http://test"),
        ({"X-Forwarded-Host": "user@evil.example/path"}, "http://test"),
    ],
)
async def test_links_lead_back_by_the_address_that_the_client_came_by(http, services, headers, base):
    services.trusted_proxies = parse_networks("127.0.0.1")
    answer = await http.get("/v1/backupvolumes/web", headers={"Authorization": "Bearer secret", **headers})

    assert answer.headers["x-api-schemas"] == f"{base}/v1/schemas"
    assert answer.json()["links"]["self"] == f"{base}/v1/backupvolumes/web@far"
    assert answer.json()["actions"]["backupList"] == f"{base}/v1/backupvolumes/web@far?action=backupList"


async def test_links_do_not_lead_where_a_proxy_that_is_not_trusted_says(http):
    told = {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "a.example", "X-API-request-url": "https://b.example/"}

    answer = await http.get("/v1/backupvolumes/web", headers={"Authorization": "Bearer secret", **told})

    assert answer.json()["links"]["self"] == "http://test/v1/backupvolumes/web@far"


async def test_it_reads_and_changes_settings(client, http):
    known = {setting.name: setting for setting in (await client.list_setting()).data}
    limit = known["concurrent-backup-restore-limit"]
    assert (limit.type, limit.value, limit.applied) == ("setting", "5", True)
    assert (limit.definition.type, limit.definition.default, limit.definition.category) == ("int", "5", "danger zone")
    kinds = {name: setting.definition.type for name, setting in known.items()}
    assert (kinds["backup-queue-paused"], kinds["data-mover-memory-limit"]) == ("bool", "string")

    changed = await client.update(limit, Value=" 7 ")

    assert (changed.value, (await client.by_id_setting(limit.name)).value) == ("7", "7")
    with pytest.raises(ApiError, match=r"422: .*'soon' is not a whole number"):
        await client.update(limit, value="soon")
    with pytest.raises(ApiError, match="422: value is missing"):
        await client.update(limit)
    assert await client.by_id_setting("nothing") is None
    for former in ("backup-target", "backup-target-credential-secret"):
        # With 404 its helper would get None instead of the sentence that sends it to targets.
        with pytest.raises(ApiError, match=f"500: setting {former} is not supported"):
            await client.by_id_setting(former)
    version = await client.by_id_setting("current-longhorn-version")
    assert (version.value, version.definition.readOnly) == ("v1.12.0", True)
    with pytest.raises(ApiError, match="409: setting current-longhorn-version is read-only"):
        await client.update(version, value="v2.0.0")
    with pytest.raises(ApiError, match="500: setting backup-target is not supported"):
        await client._ask("PUT", "http://test/v1/settings/backup-target", {"value": "s3://b@r/"})
    login = {"Authorization": "Bearer secret"}
    whole = (await http.get("/v1/settings/concurrent-backup-restore-limit", headers=login)).json()
    whole["spec"]["value"] = "8"
    back = await http.put("/v1/settings/concurrent-backup-restore-limit", headers=login, json=whole)
    assert (back.status_code, back.json()["spec"]["value"], back.json()["value"]) == (200, "8", "8")


async def test_it_makes_lists_and_deletes_system_backups(client, services):
    near = await services.store.get(BackupTarget, "near")
    await services.store.update(near.replace(spec=near.spec.replace(default=True)))

    made = await client.create_systemBackup(Name="nightly", VolumeBackupPolicy="always")

    assert (made.id, made.type, made.state, made.volumeBackupPolicy) == ("nightly", "systemBackup", "", "always")
    assert made.createdAt.endswith(" +0000 UTC")
    assert [one.name for one in (await client.list_systemBackup()).data] == ["nightly"]
    assert (await client.by_id_systemBackup("nightly")).metadata.name == "nightly"
    assert await client.by_id_systemBackup("nothing") is None
    with pytest.raises(ApiError, match="422"):
        await client.create_systemBackup(Name="other", VolumeBackupPolicy="sometimes")
    with pytest.raises(ApiError, match="422: name is missing"):
        await client.create_systemBackup(volumeBackupPolicy="always")
    with pytest.raises(ApiError, match="404"):
        await client.create_systemRestore(name="back", systemBackup="never-made")
    assert (await client.list_systemRestore()).data == []
    await client.delete(made)


async def test_every_collection_of_the_schemas_can_be_asked_for(client, http):
    listed = [schema for schema in client.schemas.values() if "GET" in schema.collectionMethods]

    assert sorted(one.id for one in listed) == [
        "backupTarget",
        "backupVolume",
        "setting",
        "systemBackup",
        "systemRestore",
    ]
    for schema in listed:
        found = await client._ask("GET", schema.links.collection)
        assert (found.type, found.resourceType, type(found.data)) == ("collection", schema.id, list)
        assert found.links.self == schema.links.collection


async def test_the_schemas_name_every_field_and_action_that_an_answer_has(client, http):
    web = await client.by_id_backupVolume("web")
    schema = client.schemas["backupVolume"]

    assert vars(schema.resourceActions).keys() == vars(web.actions).keys()
    assert vars(schema.resourceFields).keys() >= vars(web).keys() - vars(web.actions).keys() - {"links", "actions"}
    one = await http.get("/v1/schemas/backup", headers={"Authorization": "Bearer secret"})
    assert json.loads(one.content)["resourceFields"]["progress"] == {"type": "int"}
