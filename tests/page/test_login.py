"""The door: who comes in, who stays in, and who sees no buttons."""

import json

from playwright.sync_api import expect


def test_a_token_opens_the_door_and_a_wrong_one_is_told(stranger, server):
    page = stranger.open("/queue")
    page.get_by_label("Token").fill("a guess")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("alert")).to_contain_text("the token is not valid")

    page.get_by_label("Token").fill(server.token)
    page.get_by_role("button", name="Log in").click()

    expect(page.get_by_role("heading", name="Queue")).to_be_visible()


def test_a_session_outlives_a_reload_and_ends_with_a_logout(visitor):
    page = visitor.open("/")
    page.reload()
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()

    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_label("Token")).to_be_visible()
    page.reload()

    expect(page.get_by_label("Token")).to_be_visible()


def test_scripts_cannot_read_the_cookie(visitor):
    assert visitor.open("/").evaluate("document.cookie") == ""


def test_a_viewer_sees_everything_and_no_action(visitor):
    viewer = json.dumps({"user": "guest", "role": "viewer", "via": "user"})
    visitor.page.route("**/v1/session", lambda route: route.fulfill(body=viewer, content_type="application/json"))

    page = visitor.open("/backups")

    expect(visitor.row("first")).to_be_visible()
    expect(page.get_by_role("button", name="Back up now")).to_have_count(0)
    page.get_by_role("button", name="Commands for first").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("tidegate backup pin first", exact=True)).to_be_visible()
    expect(dialog.get_by_role("button", name="Delete", exact=True)).to_have_count(0)
