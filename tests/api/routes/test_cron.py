"""What cron expressions mean, over HTTP."""

import pytest

EVERY_MONTH = list(range(1, 13))
WORDS = [
    ("30 2 * * *", "every day at 02:30"),
    ("@hourly", "every hour"),
    ("@weekly", "every Sunday at 00:00"),
    ("*/7 * * * *", ""),
    ("0 0 1-7 * 5", ""),
]


async def test_each_expression_is_explained_in_the_order_of_asking(api):
    answer = await api.get("/v1/cron", params={"schedule": [schedule for schedule, _ in WORDS]})

    assert [(one["schedule"], one["words"]) for one in answer.json()["data"]] == WORDS


async def numbers(api, schedule):
    (found,) = (await api.get("/v1/cron", params={"schedule": schedule})).json()["data"]
    return found.get("numbers")


async def test_the_numbers_of_the_fields_are_told(api):
    assert await numbers(api, "0,30 6-8 13 * FRI") == {
        "minutes": [0, 30],
        "hours": [6, 7, 8],
        "days": [13],
        "months": EVERY_MONTH,
        "weekdays": [5],
        "eitherDay": True,
    }
    assert (await numbers(api, "0 0 * * 7"))["weekdays"] == [0]
    assert (await numbers(api, "0 0 * * 1"))["eitherDay"] is False


@pytest.mark.parametrize("schedule", ["0 0 L * *", "0 0 * * sun#2", "0 0 * * 5L"])
async def test_a_day_that_is_no_number_has_none(api, schedule):
    assert await numbers(api, schedule) is None


@pytest.mark.parametrize("schedule", ["61 * * * *", "x", "* * *", "", "0 0 31 2 *", "9" * 1000])
async def test_what_makes_no_sense_has_an_error_and_spoils_no_other(api, schedule):
    good, bad = (await api.get("/v1/cron", params={"schedule": ["@daily", schedule]})).json()["data"]

    assert (good["words"], good["error"]) == ("every day at 00:00", "")
    assert (bad["words"], bad["error"] != "") == ("", True)


async def test_so_many_at_once_are_refused(api):
    assert (await api.get("/v1/cron", params={"schedule": ["@daily"] * 101})).status_code == 422
