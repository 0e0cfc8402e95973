"""Behind a proxy, the client counts and not the proxy; without a trusted one, nobody can pretend to be another."""

import httpx2
import pytest

from tidegate.access.audit import SqliteAudit
from tidegate.api.application import build_application
from tidegate.decide.access.forwarded import parse_networks
from tidegate.model.access.audit import AuditFilter
from tidegate.testing.machine.documented import DocumentedTransport

WRONG = {"user": "alice", "password": "a wrong password"}


@pytest.fixture
def proxied(services):
    services.trusted_proxies = parse_networks("10.0.0.0/8")
    return services


async def came_from(services, peer, path="/v1/login", *, body=WRONG, **headers):
    transport = DocumentedTransport(build_application(services), client=(peer, 4711))
    async with httpx2.AsyncClient(transport=transport, base_url="http://test") as client:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        return await client.post(path, json=body, headers=sent)


async def test_wrong_passwords_of_one_client_do_not_keep_others_behind_the_same_proxy_out(proxied):
    for number in range(10):
        wrong = await came_from(proxied, "10.0.0.1", body={**WRONG, "user": f"u{number}"}, X_Forwarded_For="192.0.2.1")
        assert wrong.status_code == 401

    assert (await came_from(proxied, "10.0.0.1", X_Forwarded_For="192.0.2.1")).status_code == 429
    assert (await came_from(proxied, "10.0.0.1", X_Forwarded_For="192.0.2.2")).status_code == 401


async def test_a_client_cannot_get_around_the_limit_by_other_addresses_that_it_claims(proxied):
    statuses = [
        (
            await came_from(
                proxied,
                "10.0.0.1",
                body={**WRONG, "user": f"u{number}"},
                X_Forwarded_For=f"1.1.1.{number}, 192.0.2.1",
            )
        ).status_code
        for number in range(11)
    ]

    assert statuses == [401] * 10 + [429]


async def test_without_a_trusted_proxy_claimed_addresses_do_not_count(services):
    statuses = [
        (
            await came_from(
                services, "192.0.2.1", body={**WRONG, "user": f"u{number}"}, X_Forwarded_For=f"1.1.1.{number}"
            )
        ).status_code
        for number in range(11)
    ]

    assert statuses == [401] * 10 + [429]


async def test_all_addresses_of_an_ipv6_network_share_one_limit(services):
    statuses = [
        (await came_from(services, f"2001:db8::{number + 1}", body={**WRONG, "user": f"u{number}"})).status_code
        for number in range(11)
    ]

    assert statuses == [401] * 10 + [429]


@pytest.mark.parametrize(("peer", "secure"), [("10.0.0.1", True), ("192.0.2.1", False)])
async def test_the_cookie_is_for_https_only_where_a_trusted_proxy_says_so(proxied, peer, secure):
    answer = await came_from(proxied, peer, body={"token": "secret"}, X_Forwarded_Proto="https")

    assert ("secure" in answer.headers["set-cookie"].lower()) is secure


async def test_the_audit_tells_the_address_of_the_client(proxied, tmp_path):
    proxied.audit = SqliteAudit.open(tmp_path / "access.sqlite")
    await came_from(proxied, "10.0.0.1", body={"token": "secret"}, X_Forwarded_For="192.0.2.1")
    await came_from(proxied, "192.0.2.7", body={"token": "secret"}, X_Forwarded_For="192.0.2.1")

    entries = (await proxied.audit.entries(AuditFilter())).entries
    proxied.audit.close()

    assert [entry.address for entry in entries] == ["192.0.2.7", "192.0.2.1"]
