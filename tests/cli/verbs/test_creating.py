"""`create`, and the settings' `set` and `unset`."""

import pytest
import yaml

from tidegate.testing.resources.builders import a_backup


def sent(server):
    """The body of the last request that had one."""
    return next(body for _, _, _, body in reversed(server.requests) if body)


def test_a_backup_is_sent_with_what_was_given_and_nothing_else(run, server):
    result = run(
        *("backup", "create", "nightly", "--include-namespaces", "shop, blog", "--exclude-namespaces", "tmp-*"),
        *("--selector", "app=shop", "--ttl", "7d", "--storage-location", "usb"),
        *("-l", "team=web,env=prod"),
    )

    assert (result.code, result.out) == (0, "backup/nightly\n")
    assert sent(server) == {
        "apiVersion": "tidegate.dev/v1alpha1",
        "kind": "Backup",
        "metadata": {"name": "nightly", "labels": {"team": "web", "env": "prod"}},
        "spec": {
            "includedNamespaces": ["shop", "blog"],
            "excludedNamespaces": ["tmp-*"],
            "labelSelector": {"matchLabels": {"app": "shop"}},
            "ttl": "7d",
            "storageLocation": "usb",
        },
    }


def test_a_dry_run_changes_nothing_and_shows_the_object_as_yaml(run, server):
    result = run("backup", "create", "nightly", "--include-namespaces", "shop", "--dry-run")

    assert result.code == 0
    assert yaml.safe_load(result.out)["spec"]["includedNamespaces"] == ["shop"]
    assert result.err == "Backup nightly would start at once.\n"
    assert server.resources == {}


def test_a_dry_run_says_where_a_backup_would_stand_and_why(run, server):
    waiting = {"type": "Waiting", "status": "True", "reason": "NamespaceOverlapRunning", "message": "b1 works on shop"}
    server.queue = {"queuePosition": 3, "conditions": [waiting]}

    result = run("backup", "create", "nightly", "--dry-run", "-o", "name")

    assert result.out == "backup/nightly\n"
    assert result.err == (
        "Backup nightly would be number 3 in the queue, because of NamespaceOverlapRunning: b1 works on shop\n"
    )


def test_a_name_that_is_taken_is_a_conflict_with_the_servers_hint(run, server):
    server.put(a_backup("nightly"))

    result = run("backup", "create", "nightly")

    assert result.code == 6
    assert result.err == "Error: nightly is taken\nHint: choose another name\n"


def test_a_restore_without_a_name_is_named_after_its_backup_and_the_time(run, server):
    assert run("restore", "create", "--from-backup", "nightly").out == "restore/nightly-20260101120000\n"


def test_a_restore_goes_to_an_absolute_place(run, server, tmp_path):
    run(
        *("restore", "create", "look", "--from-backup", "nightly", "--to", "./look"),
        *("--include-volumes", "shop/db", "--include-namespaces", "shop", "--existing-data", "overwrite"),
    )

    assert sent(server)["spec"] == {
        "backupName": "nightly",
        "destination": str(tmp_path / "look"),
        "includedNamespaces": ["shop"],
        "includedVolumes": ["shop/db"],
        "existingData": "overwrite",
    }


def test_a_restore_needs_a_backup(run, server):
    assert run("restore", "create", "look").code == 2


def test_a_relative_path_of_a_volume_is_seen_from_where_it_was_typed(run, server, tmp_path):
    run("volume", "create", "db", "-n", "shop", "--directory", "data/../files")

    assert sent(server)["metadata"] == {"name": "db", "namespace": "shop"}
    assert sent(server)["spec"] == {"directory": str(tmp_path / "files")}


def test_a_volume_has_exactly_one_source(run, server):
    assert run("volume", "create", "shop/db").code == 2
    assert run("volume", "create", "shop/db", "--image", "a", "--device", "b").code == 2
    assert run("volume", "create", "shop/db", "--image", "a", "--claim", "shop/db").code == 2


def test_a_bare_path_of_a_target_becomes_a_file_url_and_a_url_stays(run, server, tmp_path):
    run("target", "create", "usb", "my store", "--default", "--poll-interval", "5m")

    assert sent(server)["spec"] == {
        "url": (tmp_path / "my store").as_uri(),
        "default": True,
        "pollInterval": "5m",
    }

    run("target", "create", "s3", "s3://bucket@region/")

    assert sent(server)["spec"] == {"url": "s3://bucket@region/"}


def test_a_namespace_can_be_created(run, server):
    assert run("namespace", "create", "shop").out == "namespace/shop\n"


def test_a_setting_is_put_and_deleted(run, server):
    assert run("setting", "set", "concurrent-backups", "3").out == "setting/concurrent-backups\n"
    assert sent(server)["spec"] == {"value": "3"}

    assert run("setting", "unset", "concurrent-backups").code == 0
    assert server.resources == {}


def test_a_negative_value_of_a_setting_is_no_option_and_judged_by_the_server(run, server):
    assert run("setting", "set", "concurrent-backups", "-1").code == 0
    assert sent(server)["spec"] == {"value": "-1"}


def test_a_label_without_a_value_is_wrong_usage(run, server):
    result = run("backup", "create", "nightly", "-l", "shop")

    assert result.code == 2
    assert "KEY=VALUE" in result.err


def test_hooks_and_an_order_are_sent_as_the_api_has_them(run, server):
    result = run(
        *("backup", "create", "b", "--pre-hook", "db-freeze 'my shop'", "--pre-hook", "note", "--post-hook", "db-thaw"),
        *("--hook-timeout", "1m", "--hook-on-error", "Continue"),
        *("--ordered-resources", "volumes= shop/db, shop/files"),
    )

    more = {"timeout": "1m", "onError": "Continue"}
    assert result.code == 0
    assert sent(server)["spec"] == {
        "hooks": {
            "resources": [
                {
                    "name": "command-line",
                    "pre": [
                        {"exec": {"command": ["db-freeze", "my shop"], **more}},
                        {"exec": {"command": ["note"], **more}},
                    ],
                    "post": [{"exec": {"command": ["db-thaw"], **more}}],
                }
            ]
        },
        "orderedResources": {"volumes": "shop/db,shop/files"},
    }


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--pre-hook", "freeze 'shop"], "--pre-hook"),
        (["--hook-timeout", "1m"], "no hook"),
        (["--ordered-resources", "shop/db"], "not an order"),
        (["--ordered-resources", "volumes="], "not an order"),
    ],
)
def test_hooks_and_orders_that_make_no_sense_are_wrong_usage(run, server, words, says):
    result = run("backup", "create", "b", *words)

    assert (result.code, says in result.err) == (2, True)
    assert server.requests == []
