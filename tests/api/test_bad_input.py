"""Bad input: one clear sentence, the right status, nothing changed."""

import json

import pytest

from tidegate import errors
from tidegate.api.problems import STATUS_BY_ERROR
from tidegate.api.security.body_limit import LARGEST_BODY

GOOD = {"metadata": {"name": "db", "namespace": "shop"}, "spec": {"directory": "/data"}}


def but(**changes):
    return {**GOOD, **changes}


BAD_VOLUMES = [
    (but(spec={"directory": "/data", "colour": "red"}), "spec.colour is not a known field"),
    (but(metadata={"name": "UPPER", "namespace": "shop"}), "metadata.name: 'UPPER' is not a name"),
    (but(metadata={"name": "../etc", "namespace": "shop"}), "metadata.name: '../etc' is not a name"),
    (but(metadata={"name": "db"}), "metadata.namespace is missing"),
    (but(metadata={"name": "db", "namespace": "a.b"}), "'a.b' is not a namespace name"),
    (but(metadata={"name": "db", "namespace": "shop", "labels": {"a b": "c"}}), "'a b' is not a label key"),
    (but(spec={}), "spec: give exactly one of directory, image, device and claim"),
    (but(spec={"directory": "/a", "image": "/b"}), "spec: give exactly one of directory, image, device and claim"),
    (but(spec={"directory": "relative"}), "spec: directory must be an absolute path"),
    (but(spec={"directory": "/missing"}), "/missing does not exist"),
    (but(spec={"claim": "shop"}), "spec: claim must be NAMESPACE/NAME, not 'shop'"),
    (but(spec={"claim": "shop/db"}), "claim shop/db exists on a Kubernetes cluster only"),
    (but(kind="Backup"), "kind: Input should be 'Volume'"),
    ([], "Input should be"),
]


@pytest.mark.parametrize(("body", "says"), BAD_VOLUMES)
async def test_a_bad_volume_is_refused_with_a_sentence_and_nothing_is_stored(api, volume_probe, body, says):
    volume_probe.missing = {"/missing"}

    refused = await api.post("/v1/volumes", json=body)

    assert refused.status_code == 422
    assert refused.headers["content-type"] == "application/problem+json"
    assert says in refused.json()["detail"]
    assert (await api.get("/v1/volumes")).json()["data"] == []
    assert (await api.get("/v1/namespaces")).json()["data"] == []


EXEC = "spec.hooks.resources[0].post[0].exec"


def hooked(exec_):
    return {"resources": [{"name": "db", "post": [{"exec": exec_}]}]}


BAD_BACKUPS = [
    ({"includedNamespaces": ["a**"]}, 422, "spec.includedNamespaces[0]"),
    ({"storageLocation": "nowhere"}, 404, None),
    ({"ttl": "5"}, 422, "spec.ttl"),
    ({"priority": 10_000}, 422, "spec.priority"),
    ({"hooks": {"a": 1}}, 422, "spec.hooks.a"),
    ({"hooks": hooked({"command": []})}, 422, f"{EXEC}.command"),
    ({"hooks": hooked({"command": ["/bin/sh", "-c", "id"]})}, 422, f"{EXEC}.command"),
    ({"hooks": hooked({"command": ["../thaw"]})}, 422, f"{EXEC}.command"),
    ({"hooks": hooked({"command": ["thaw"], "timeout": "soon"})}, 422, f"{EXEC}.timeout"),
    ({"hooks": hooked({"command": ["thaw"], "timeout": "0s"})}, 422, f"{EXEC}.timeout"),
    ({"hooks": hooked({"command": ["thaw"], "onError": "Ignore"})}, 422, f"{EXEC}.onError"),
    ({"hooks": hooked({"command": ["nobody-knows-it"]})}, 422, EXEC),
    ({"orderedResources": {"pods": "a/b"}}, 422, "spec.orderedResources"),
]


@pytest.mark.parametrize(("spec", "status", "field"), BAD_BACKUPS)
async def test_a_bad_backup_is_refused_when_it_is_submitted_not_when_it_reaches_the_head(api, spec, status, field):
    await api.post("/v1/backuptargets", json={"metadata": {"name": "store"}, "spec": {"url": "file:///b"}})

    refused = await api.post("/v1/backups", json={"metadata": {"name": "b"}, "spec": spec})

    assert (refused.status_code, refused.json().get("field")) == (status, field)
    assert (await api.get("/v1/backups")).json()["data"] == []


async def test_a_body_that_is_not_json_is_a_bad_request(api):
    refused = await api.post("/v1/volumes", content=b"{", headers={"content-type": "application/json"})

    assert (refused.status_code, refused.json()["detail"]) == (400, "the body is not valid JSON")


async def test_a_body_that_is_too_large_is_refused_whatever_it_claims(api):
    refused = await api.post("/v1/volumes", content=b" " * (LARGEST_BODY + 1))

    assert refused.status_code == 413


async def test_a_restore_of_an_unknown_backup_is_not_found(api):
    refused = await api.post("/v1/restores", json={"metadata": {"name": "r"}, "spec": {"backupName": "none"}})

    assert (refused.status_code, refused.json()["code"]) == (404, "NotFound")


async def test_a_target_that_does_not_answer_is_told_when_it_is_made(api, store_probe):
    store_probe.down = True

    refused = await api.post("/v1/backuptargets", json={"metadata": {"name": "t"}, "spec": {"url": "file:///b"}})

    assert (refused.status_code, refused.json()["code"]) == (503, "StoreUnavailable")


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic secret"}])
async def test_every_call_needs_the_token_and_the_answer_never_repeats_what_was_sent(api, headers):
    api.headers.pop("Authorization")

    for path in ("/v1/backups", "/v1/events", "/v1/version", "/v1/settings"):
        refused = await api.get(path, headers=headers)
        assert refused.status_code == 401
        assert "wrong" not in refused.text


@pytest.mark.parametrize("query", ["labelSelector=a b", "limit=0", "limit=1001", "marker=%00"])
async def test_a_bad_query_is_refused(api, query):
    assert (await api.get(f"/v1/volumes?{query}")).status_code in {400, 422}


async def test_an_unknown_path_is_a_problem_document_too(api):
    missing = await api.get("/v1/nothing")

    assert (missing.status_code, missing.json()["code"]) == (404, "NotFound")


def test_every_error_of_the_tree_has_a_status():
    assert set(errors.error_classes().values()) == set(STATUS_BY_ERROR)


HALF = "\ud800"
WITH_HALF = [
    ("POST", "/v1/volumes", but(metadata={**GOOD["metadata"], "annotations": {"a": HALF}})),
    ("POST", "/v1/volumes", but(metadata={**GOOD["metadata"], "annotations": {HALF: "a"}})),
    ("POST", "/v1/volumes", but(spec={"directory": f"/data/{HALF}"})),
    ("POST", "/v1/restore-plans", {"backup": "b", "to": f"/x/{HALF}"}),
    ("POST", "/v1/login", {"user": HALF, "password": HALF}),
    ("POST", "/v1/login", {"token": HALF}),
    ("PUT", "/v1/settings/concurrent-backups", {"value": HALF}),
    ("PUT", "/v1/backuptargets/x", {"backupTargetURL": HALF}),
    ("PUT", "/v1/load", {"loadConcurrency": {"perNodeConfig": HALF}}),
    ("POST", "/v1/backupvolumes/x?action=backupList", {"name": HALF}),
    ("DELETE", "/v1/volumes/shop/db", {"a": HALF}),
]


@pytest.mark.parametrize("raw", [True, False])
@pytest.mark.parametrize(("method", "path", "body"), WITH_HALF)
async def test_half_of_a_surrogate_pair_is_refused_wherever_it_stands(api, method, path, body, raw):
    escaped = json.dumps(body)
    content = escaped.replace(r"\ud800", HALF).encode("utf-8", "surrogatepass") if raw else escaped

    refused = await api.request(method, path, content=content, headers={"Content-Type": "application/json"})

    assert (refused.status_code, refused.json()["code"]) == (422, "InvalidInput")
    assert "U+D800" in refused.json()["detail"]


async def test_whole_characters_are_no_mistake(api):
    body = but(metadata={**GOOD["metadata"], "annotations": {"mood": "😀"}})

    made = await api.post("/v1/volumes", content=json.dumps(body), headers={"Content-Type": "application/json"})

    assert made.status_code == 201
    assert made.json()["metadata"]["annotations"] == {"mood": "😀"}


@pytest.mark.parametrize("path", ["/v1/backups/%ED%A0%80", "/v1/backups?labelSelector=%ED%A0%80", "/v1/queue/%FF"])
async def test_bytes_that_are_no_text_in_an_address_are_no_bug(api, path):
    assert (await api.get(path)).status_code in {404, 422}


@pytest.mark.parametrize("where", ["metadata", "spec"])
async def test_a_resource_larger_than_any_may_become_is_refused(api, where):
    many = {f"note-{number}": "x" * 100 for number in range(2_000)}
    body = but(metadata={**GOOD["metadata"], "annotations": many}) if where == "metadata" else None
    body = body or but(spec={"directory": "/data", "excludes": list(many.values())})

    refused = await api.post("/v1/volumes", json=body)

    assert refused.status_code == 422
    assert "it may have 131072" in refused.json()["message"]
