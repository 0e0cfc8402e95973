"""Roles at the page: who sees which action, who is refused all the same, and what the audit tells of it."""

import pytest
from playwright.sync_api import expect

from page.visiting import Visitor  # type: ignore[import-not-found]  # pytest has tests/ on its path

PASSWORD = "correct horse battery"
CSRF = {"X-Tidegate-CSRF": "1"}


@pytest.fixture
def somebody(browser, server):
    """Lets somebody in who has this role, by a user of their own."""
    visitors = []

    def come_in(role):
        name = f"{role}-{len(visitors) + 1}"
        server.post("users", {"name": name, "role": role, "password": PASSWORD})
        visitor = Visitor(browser, server)
        visitors.append((name, visitor))
        answer = visitor.context.request.post("/v1/login", data={"user": name, "password": PASSWORD})
        assert answer.ok
        return visitor

    yield come_in
    for name, visitor in visitors:
        visitor.context.close()
        server.api.delete(f"/v1/users/{name}")
        assert visitor.complaints == []


def test_a_name_and_a_password_open_the_door_and_wrong_ones_are_told(stranger, server):
    server.post("users", {"name": "alice", "role": "viewer", "password": PASSWORD})
    page = stranger.open("/queue")
    page.get_by_role("button", name="Come in with a name and a password").click()
    page.get_by_label("User").fill("alice")
    page.get_by_label("Password").fill("not the password")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("alert")).to_contain_text("do not open the door")

    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()

    expect(page.get_by_role("heading", name="Queue")).to_be_visible()
    expect(page.get_by_text("alice (viewer)")).to_be_visible()

    server.api.put("/v1/users/alice", json={"disabled": True})
    stranger.open("/volumes")
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()


LOOKS = ["/", "/queue", "/backups", "/restores", "/volumes", "/schedules", "/targets", "/settings"]


def test_a_viewer_sees_no_action_anywhere_and_is_refused_by_the_server(somebody, server):
    viewer = somebody("viewer")

    for path in LOOKS:
        page = viewer.open(path)
        expect(page.locator("main")).not_to_contain_text("Loading")
        expect(page.locator("main .button.primary, main .button.danger")).to_have_count(0)
    expect(page.get_by_role("link", name="Audit")).to_have_count(0)
    expect(viewer.open("/audit").locator("main")).to_contain_text("This is for administrators.")

    body = {"metadata": {"name": "sneaky"}, "spec": {}}
    refused = viewer.context.request.post("/v1/backups", data=body, headers=CSRF)
    assert (refused.status, refused.json()["detail"]) == (403, "this needs the role operator, and yours is viewer")
    assert server.api.get("/v1/backups/sneaky").status_code == 404


def test_an_operator_backs_up_and_cannot_change_settings_or_delete(somebody, server):
    operator = somebody("operator")
    page = operator.open("/settings")
    expect(page.locator("#setting-concurrent-backups")).to_be_disabled()
    refused = operator.context.request.put("/v1/settings/concurrent-backups", data={}, headers=CSRF)
    assert refused.status == 403

    page = operator.open("/backups/first")
    expect(page.get_by_role("button", name="Pin", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Delete", exact=True)).to_have_count(0)

    page = operator.open("/backups")
    page.get_by_role("button", name="Back up now").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name", exact=True).fill("by-hand")
    dialog.get_by_role("button", name="Back up now").click()
    operator.hears("by-hand")
    expect(operator.row("by-hand")).to_be_visible()
    asked = server.look("backups/by-hand")["metadata"]["annotations"]["tidegate.dev/requested-by"]
    assert asked == "operator-1"


def test_a_token_is_made_used_revoked_and_the_audit_tells_it(visitor, server):
    page = visitor.open("/tokens")
    page.get_by_role("button", name="Make a token").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name", exact=True).fill("robot")
    dialog.get_by_label("Role", exact=True).select_option("operator")
    dialog.get_by_label("Days until it expires").fill("30")
    expect(dialog).to_contain_text("tidegate token create robot --role operator --expires 30d")
    dialog.get_by_role("button", name="Make the token").click()
    expect(dialog).to_contain_text("Copy it now")
    token = dialog.locator("[data-command]").get_attribute("data-command")
    dialog.get_by_role("button", name="I have it").click()
    expect(visitor.row("robot")).to_contain_text("in 29d")

    (server.root / "robot.token").write_text(token)
    words = ("--token-file", "robot.token", "--server", server.url)
    assert server.run("backup", "get", *words).returncode == 0
    assert server.run("setting", "set", "concurrent-backups", "2", *words).returncode == 12

    visitor.pick("robot", "Revoke")
    page.get_by_role("dialog").get_by_role("button", name="Revoke the token").click()
    expect(visitor.row("robot")).to_have_count(0)
    assert server.run("backup", "get", *words).returncode == 12

    page = visitor.open("/audit?who=robot")
    refused = page.locator("tbody tr").first
    expect(refused).to_contain_text("PUT settings/concurrent-backups")
    expect(refused).to_contain_text("Refused (403)")
    page.get_by_label("Who", exact=True).fill("")
    page.get_by_label("What", exact=True).fill("tokens/robot")
    expect(page.locator("tbody tr")).to_have_count(2)
    expect(page.locator("tbody tr").first).to_contain_text("DELETE tokens/robot")
    assert "what=tokens%2Frobot" in page.url
    shown = page.locator(".screen-head [data-command]").get_attribute("data-command")
    assert "tokens/robot" in server.tidegate(*shown.split()[1:])


def test_users_are_managed_here_and_by_the_commands_that_are_shown(visitor, server):
    page = visitor.open("/tokens?show=users")
    page.get_by_role("button", name="Add a user").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name", exact=True).fill("carol")
    dialog.get_by_label("Password", exact=True).fill("short")
    dialog.get_by_role("button", name="Add the user").click()
    expect(dialog.get_by_role("alert")).to_contain_text("at least 10 characters")
    dialog.get_by_label("Password", exact=True).fill(PASSWORD)
    dialog.get_by_role("button", name="Add the user").click()
    expect(visitor.row("carol")).to_contain_text("viewer")

    visitor.pick("carol", "Change the role")
    page.get_by_role("dialog").get_by_label("Role", exact=True).select_option("operator")
    page.get_by_role("dialog").get_by_role("button", name="Change the role").click()
    expect(visitor.row("carol")).to_contain_text("operator")

    visitor.pick("carol", "Disable")
    expect(visitor.row("carol")).to_contain_text("Disabled")
    assert server.get("user", "get", "carol")["items"][0]["disabled"] is True

    visitor.pick("carol", "Delete")
    page.get_by_role("dialog").get_by_role("button", name="Delete the user").click()
    expect(visitor.row("carol")).to_have_count(0)


def test_an_open_page_shows_what_a_new_role_allows_without_a_reload(somebody, server):
    viewer = somebody("viewer")
    page = viewer.open("/backups")
    expect(viewer.row("first")).to_be_visible()
    expect(page.get_by_role("button", name="Back up now")).to_have_count(0)

    server.api.put("/v1/users/viewer-1", json={"role": "operator"})
    expect(page.get_by_role("button", name="Back up now")).to_be_visible()
    expect(page.get_by_text("viewer-1 (operator)")).to_be_visible()
    server.api.put("/v1/users/viewer-1", json={"role": "viewer"})

    expect(page.get_by_role("button", name="Back up now")).to_have_count(0)
    expect(page.get_by_role("alert")).to_have_count(0)


def test_a_role_that_changes_before_the_page_hears_of_changes_is_shown_too(somebody, server):
    viewer = somebody("viewer")

    def change_first(route):
        server.api.put("/v1/users/viewer-1", json={"role": "operator"})
        route.continue_()

    # The page has asked who it is, and its stream begins as somebody else.
    viewer.page.route("**/v1/events?*", change_first, times=1)
    page = viewer.open("/backups")

    expect(page.get_by_text("viewer-1 (operator)")).to_be_visible()
    expect(page.get_by_role("button", name="Back up now")).to_be_visible()


def test_an_open_page_of_a_token_that_is_revoked_asks_for_a_login(browser, server):
    token = server.post("tokens", {"name": "kiosk", "role": "viewer"})["token"]
    visitor = Visitor(browser, server)
    assert visitor.context.request.post("/v1/login", data={"token": token}).ok
    page = visitor.open("/queue")
    expect(page.get_by_text("live", exact=True)).to_be_visible()

    server.api.delete("/v1/tokens/kiosk")

    expect(page.get_by_role("heading", name="Log in")).to_be_visible()
    expect(page.locator("main")).to_contain_text("Your session is over")
    visitor.context.close()


def test_a_call_that_is_refused_ends_no_session_that_is_still_good(visitor):
    """It may have set out with a cookie that was renewed meanwhile."""
    refusal = {"status": 401, "code": "Unauthenticated", "detail": "please log in"}
    address = "**/v1/systemrestores?*"
    visitor.page.route(address, lambda route: route.fulfill(status=401, json=refusal))
    page = visitor.open("/volumes")
    expect(page.get_by_text("live", exact=True)).to_be_visible()

    with page.expect_response("**/v1/session"):
        page.get_by_role("link", name="System backups").click()

    expect(page.get_by_role("heading", name="System backups", level=1)).to_be_visible()
    expect(page.get_by_text("live", exact=True)).to_be_visible()


def test_a_user_changes_their_own_password_and_only_this_session_goes_on(somebody, server):
    alice, name = somebody("viewer"), "viewer-1"
    page = alice.open("/queue")
    page.get_by_role("button", name=f"{name} (viewer)").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Password now").fill("not my password")
    dialog.get_by_label("New password", exact=True).fill("a better password")
    dialog.get_by_label("New password again").fill("a better password")
    expect(dialog).to_contain_text(f"tidegate user password {name}")
    dialog.get_by_role("button", name="Change the password").click()
    expect(dialog.get_by_role("alert")).to_contain_text("this is not the password that this user has now")

    dialog.get_by_label("Password now").fill(PASSWORD)
    dialog.get_by_role("button", name="Change the password").click()

    alice.hears("Your password is changed")
    page.reload()
    expect(page.get_by_role("heading", name="Queue")).to_be_visible()
    wrong = server.api.post("/v1/login", json={"user": name, "password": PASSWORD})
    assert wrong.status_code == 401
