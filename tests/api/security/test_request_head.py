"""What is refused before anything of a request is understood."""

import pytest


@pytest.mark.parametrize("path", ["/v1/version", "/livez", "/metrics", "/", "/v1/login"])
async def test_a_name_that_a_stranger_points_here_is_refused_everywhere(api, services, path):
    services.hosts = frozenset({"backup.example.org"})

    refused = await api.get(path, headers={"Host": "evil.example:8470"})

    assert refused.status_code == 421
    assert refused.json()["detail"] == "this server is not known as 'evil.example:8470'"
    assert "--allowed-hosts" in refused.json()["hint"]


@pytest.mark.parametrize("host", ["", " ", ":80", "127.0.0.1.evil.example", "evil.example#localhost", "0x7f000001"])
async def test_what_is_no_name_of_it_is_refused_however_it_looks(api, services, host):
    services.hosts = frozenset({"backup.example.org"})

    assert (await api.get("/v1/version", headers={"Host": host})).status_code == 421


@pytest.mark.parametrize("host", ["localhost:8470", "127.0.0.1:8470", "[::1]", "backup.example.org"])
async def test_its_own_names_are_not(api, services, host):
    services.hosts = frozenset({"backup.example.org"})

    assert (await api.get("/v1/version", headers={"Host": host})).status_code == 200


async def test_a_redirect_leads_to_a_path_and_not_to_the_host_that_was_sent(api):
    answer = await api.get("/v1/backups/?limit=1", headers={"Host": "evil.example"})

    assert answer.status_code == 307
    assert answer.headers["location"] == "/v1/backups?limit=1"


async def test_a_request_whose_length_two_headers_tell_is_refused_and_its_connection_closed(api):
    refused = await api.post(
        "/v1/namespaces", content=b"0\r\n\r\n", headers={"Content-Length": "5", "Transfer-Encoding": "chunked"}
    )

    assert (refused.status_code, refused.headers["connection"]) == (400, "close")
    assert refused.json()["code"] == "InvalidInput"
