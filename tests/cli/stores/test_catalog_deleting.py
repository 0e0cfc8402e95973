"""`catalog delete`: what somebody saw is what goes, and nothing without a yes."""

import pytest

PATH = "/v1/catalogue/deletions"


@pytest.fixture
def matching(server):
    answer = {"backups": 12, "volumes": 3, "deletions": ["deletion-1"], "kept": []}
    server.answers["POST", PATH] = (200, answer)
    return server


def asked(server):
    return [(query, body) for _, path, query, body in server.requests if path == PATH]


def test_it_looks_first_and_asks_for_as_many_as_it_saw(matching, run):
    done = run("catalog", "delete", "-n", "old", "--label", "job=x", "--yes")

    assert (done.code, done.out) == (0, "deletion/deletion-1\n")
    looked = {"namespace": "old", "label": "job=x"}
    assert asked(matching) == [({**looked, "dryRun": "true"}, {"expected": 0}), (looked, {"expected": 12})]


def test_nothing_goes_without_a_yes_or_with_dry_run(matching, run):
    told = run("catalog", "delete", "postgres", "--dry-run")

    assert (told.code, told.out) == (0, "12 backups of 3 volumes would be deleted\n")
    assert run("catalog", "delete", "postgres").code == 2
    assert all(query["dryRun"] == "true" for query, _ in asked(matching))


def test_one_is_told_as_one(matching, run):
    matching.answers["POST", PATH] = (200, {"backups": 1, "volumes": 1, "deletions": ["deletion-1"], "kept": []})

    assert run("catalog", "delete", "postgres", "--dry-run").out == "1 backup of 1 volume would be deleted\n"
    told = run("catalog", "delete", "postgres", "--yes").err
    assert told == "Deleting 1 backup; the server removes it from its store.\n"


def test_a_volume_that_keeps_its_backups_is_told(matching, run):
    kept = [{"volume": "db@far", "message": "restore r reads b-1"}]
    matching.answers["POST", PATH] = (202, {"backups": 9, "volumes": 2, "deletions": ["deletion-1"], "kept": kept})

    done = run("catalog", "delete", "postgres", "--yes")

    assert done.code == 3
    assert "db@far: restore r reads b-1" in done.err
