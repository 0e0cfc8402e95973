"""A browser logs in with the token, stays in by a cookie, and cannot be misused by another site."""

from dataclasses import replace
from datetime import timedelta

import httpx2
import pytest

from tidegate.api.application import build_application
from tidegate.api.security.sessions import LIFETIME
from tidegate.app.machine.data_dir import token_check
from tidegate.testing.machine.documented import DocumentedTransport

NAMESPACE = {"metadata": {"name": "shop"}}
CSRF = {"X-Tidegate-CSRF": "1"}


@pytest.fixture
async def browser(services):
    transport = DocumentedTransport(build_application(services), raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url="http://test") as client:
        yield client


@pytest.fixture
async def logged_in(browser):
    assert (await browser.post("/v1/login", json={"token": "secret"})).status_code == 200
    return browser


async def test_a_login_gives_a_cookie_that_no_script_and_no_other_site_can_use(browser):
    answer = await browser.post("/v1/login", json={"token": "secret"})

    cookie = answer.headers["set-cookie"].lower()
    assert answer.json() == {"user": "admin", "role": "admin", "via": "admin.token"}
    assert all(word in cookie for word in ("httponly", "samesite=strict", "path=/"))
    assert "secure" not in cookie
    assert "secret" not in cookie


async def test_over_https_the_cookie_is_sent_over_https_only(services):
    transport = DocumentedTransport(build_application(services))
    async with httpx2.AsyncClient(transport=transport, base_url="https://test") as client:
        answer = await client.post("/v1/login", json={"token": "secret"})

    assert "secure" in answer.headers["set-cookie"].lower()


async def test_without_a_login_nothing_is_told(browser):
    refused = await browser.get("/v1/session")

    assert refused.status_code == 401


async def test_a_session_reads_and_with_the_header_also_writes(logged_in):
    assert (await logged_in.get("/v1/session")).json()["role"] == "admin"
    assert (await logged_in.post("/v1/namespaces", json=NAMESPACE, headers=CSRF)).status_code == 201


FORGED = [
    {},
    {**CSRF, "Origin": "http://evil.example"},
    {**CSRF, "Sec-Fetch-Site": "cross-site"},
    {**CSRF, "Sec-Fetch-Site": "same-site"},
    {**CSRF, "Origin": "null"},
]


@pytest.mark.parametrize("headers", FORGED)
async def test_what_another_site_made_the_browser_send_is_refused_and_changes_nothing(logged_in, headers):
    refused = await logged_in.post("/v1/namespaces", json=NAMESPACE, headers=headers)

    assert (refused.status_code, refused.json()["code"]) == (403, "Forbidden")
    assert (await logged_in.get("/v1/namespaces")).json()["data"] == []


async def test_another_site_cannot_log_anybody_in(browser):
    refused = await browser.post("/v1/login", json={"token": "secret"}, headers={"Origin": "http://evil.example"})

    assert refused.status_code == 403
    assert "set-cookie" not in refused.headers


async def test_the_page_of_the_server_itself_is_not_another_site(logged_in):
    headers = {**CSRF, "Origin": "http://test", "Sec-Fetch-Site": "same-origin"}

    assert (await logged_in.post("/v1/namespaces", json=NAMESPACE, headers=headers)).status_code == 201


async def test_behind_a_proxy_that_changes_the_host_the_browsers_own_word_counts(logged_in):
    headers = {**CSRF, "Origin": "https://backup.example", "Sec-Fetch-Site": "same-origin"}

    assert (await logged_in.post("/v1/namespaces", json=NAMESPACE, headers=headers)).status_code == 201


async def test_a_token_needs_no_header_because_no_browser_sends_it_by_itself(api):
    assert (await api.post("/v1/namespaces", json=NAMESPACE)).status_code == 201


async def test_a_session_ends_with_its_time(logged_in, services):
    await services.clock.advance(LIFETIME - timedelta(seconds=1))
    assert (await logged_in.get("/v1/session")).status_code == 200

    await services.clock.advance(timedelta(seconds=1))
    assert (await logged_in.get("/v1/session")).status_code == 401


@pytest.mark.parametrize("cookie", ["", ".", "99999999999", "99999999999.deadbeef", "9" * 5000 + ".é"])
async def test_a_cookie_of_somebody_elses_making_is_worth_nothing(browser, services, cookie):
    headers = {"Cookie": f"{services.sessions.cookie_name}={cookie}".encode("latin-1")}

    assert (await browser.get("/v1/session", headers=headers)).status_code == 401


async def test_a_logout_takes_the_cookie_back(logged_in):
    assert (await logged_in.post("/v1/logout", headers=CSRF)).status_code == 204
    assert (await logged_in.get("/v1/session")).status_code == 401


async def test_after_a_logout_a_copy_of_the_cookie_opens_nothing_and_other_sessions_go_on(logged_in, browser, services):
    name = services.sessions.cookie_name
    copy = {"Cookie": f"{name}={logged_in.cookies[name]}"}
    assert (await browser.post("/v1/login", json={"token": "secret"})).status_code == 200
    other = {"Cookie": f"{name}={browser.cookies[name]}"}

    assert (await logged_in.post("/v1/logout", headers={**CSRF, **copy})).status_code == 204

    logged_in.cookies.clear()
    assert (await logged_in.get("/v1/session", headers=copy)).status_code == 401
    assert (await logged_in.get("/v1/session", headers=other)).status_code == 200


async def test_wrong_tokens_are_stopped_and_a_minute_later_a_person_may_mistype_again(browser, services):
    guesses = [await browser.post("/v1/login", json={"token": f"guess {n}"}) for n in range(10)]
    stopped = await browser.post("/v1/login", json={"token": "guess 10"})
    await services.clock.advance(timedelta(minutes=1))
    later = await browser.post("/v1/login", json={"token": "guess 11"})

    assert {guess.status_code for guess in guesses} == {401}
    assert (stopped.status_code, stopped.json()["hint"]) == (429, "try again in 61 seconds")
    assert later.status_code == 401


async def test_no_number_of_wrong_logins_keeps_a_right_token_out(browser):
    for n in range(30):
        await browser.post("/v1/login", json={"token": f"guess {n}"})
        await browser.post("/v1/login", json={"user": f"user-{n}", "password": "guess"})

    assert (await browser.post("/v1/login", json={"token": "secret"})).status_code == 200


@pytest.mark.parametrize("blank", ["", " ", "\t\n"])
async def test_a_blank_token_never_logs_in_even_where_the_owner_has_none(services, blank):
    open_door = replace(services, token_is_good=token_check(""))
    transport = DocumentedTransport(build_application(open_door), raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url="http://test") as client:
        login = await client.post("/v1/login", json={"token": blank})
        bearer = await client.get("/v1/session", headers={"Authorization": f"Bearer {blank}"})

    assert (login.status_code, bearer.status_code) == (422, 401)


async def test_a_token_that_is_no_text_is_a_wrong_token(browser):
    answer = await browser.post("/v1/login", content=b'{"token": "\\ud800"}')

    assert answer.status_code in {401, 422}
