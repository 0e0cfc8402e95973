"""The document at /openapi.json leads nowhere that is not there, and says what each call can answer and no more."""

import json
import re

import httpx2
import pytest

from tidegate.api.application import build_application
from tidegate.testing.machine.documented import Description, DocumentedTransport, UndocumentedAnswer


@pytest.fixture
async def document(api):
    return (await api.get("/openapi.json")).json()


def statuses(document, call):
    method, path = call.split()
    return document["paths"][path][method.lower()]["responses"].keys()


def test_every_reference_leads_to_something(document):
    references = set(re.findall(r'"\$ref": "([^"]+)"', json.dumps(document)))

    def leads_somewhere(reference):
        place = document
        for word in reference.removeprefix("#/").split("/"):
            place = place.get(word, {})
        return bool(place)

    assert len(references) > 100
    assert [reference for reference in references if not leads_somewhere(reference)] == []


def test_every_refusal_is_a_problem_document(document):
    refusals = [
        answer if "$ref" not in answer else document["components"]["responses"][answer["$ref"].rpartition("/")[2]]
        for operations in document["paths"].values()
        for operation in operations.values()
        for status, answer in operation["responses"].items()
        if status >= "400"
    ]

    assert len(refusals) > 500
    assert all("application/problem+json" in refusal["content"] for refusal in refusals)


EVERYWHERE = "400 421 431 500 503"
LOOK = f"{EVERYWHERE} 401"
CHANGE = f"{LOOK} 403 408 409 413 422 507"
CALLS = [
    ("GET /livez", f"{EVERYWHERE} 200"),
    ("GET /v1/version", f"{LOOK} 200"),
    ("GET /v1/backups/{name}", f"{LOOK} 200 404"),
    ("GET /v1/catalogue/syncs/{target}/{volume}", f"{LOOK} 200 404 422"),
    ("GET /v1/schedules/{name}/next", f"{LOOK} 200 404 422"),
    ("POST /v1/logout", f"{EVERYWHERE} 204 403 408 413 422 507"),
    ("GET /v1/audit", f"{LOOK} 200 403 422"),
    ("POST /v1/login", f"{LOOK} 200 403 408 413 422 429"),
    ("DELETE /v1/users/{name}", f"{CHANGE} 204 404"),
    ("POST /v1/namespaces", f"{CHANGE} 200 201"),
    ("POST /v1/backups", f"{CHANGE} 200 201 404"),
    ("POST /v1/notifications/{name}/test", f"{LOOK} 200 403 404 408 413 422 502"),
]


@pytest.mark.parametrize(("call", "expected"), CALLS, ids=[call for call, _ in CALLS])
def test_a_call_has_the_statuses_that_it_can_answer_and_no_others(document, call, expected):
    assert statuses(document, call) == set(expected.split())


@pytest.mark.parametrize("status", ["410", "423"])
def test_no_call_claims_a_status_that_only_stored_errors_have(document, status):
    assert [path for path, operations in document["paths"].items() if status in json.dumps(operations)] == []


async def test_a_problem_has_the_form_that_the_document_tells(api, document):
    problem = (await api.get("/v1/backups/nothing")).json()

    schema = document["components"]["schemas"]["Problem"]
    assert set(schema["required"]) <= problem.keys() <= schema["properties"].keys()


@pytest.mark.parametrize(
    "answer",
    [
        ("GET", "/v1/backups/nothing", 418, "application/problem+json"),
        ("GET", "/v1/backups/nothing", 404, "text/html"),
        ("DELETE", "/v1/volumes/home/docs", 206, "application/json"),
    ],
)
def test_an_answer_that_the_document_does_not_know_fails_the_test_that_sees_it(document, answer):
    with pytest.raises(UndocumentedAnswer):
        Description(document).check(*answer)


async def test_the_tests_see_the_same_answers_as_any_client(services):
    transport = DocumentedTransport(build_application(services), raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url="http://test") as client:
        assert (await client.get("/v1/backups")).status_code == 401
