"""What cron expressions mean, for whoever shows or types one."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query

from tidegate.api.security.auth import require_token
from tidegate.model.frozen import Model
from tidegate.model.schedules.cron import CronNumbers, numbers_of
from tidegate.views.schedules.cron_words import cron_phrase

router = APIRouter(tags=["schedules"], dependencies=[Depends(require_token)])

MOST_AT_ONCE = 100


class CronMeaning(Model):
    """What one expression means."""

    schedule: str
    """As it was asked for."""
    words: str = ""
    """`every day at 02:30`; empty where nobody would say it in words."""
    numbers: CronNumbers | None = None
    """Absent where the expression counts from the end of a month, or names the n-th weekday of one."""
    error: str = ""
    """What is wrong with it."""


class CronMeanings(Model):
    """In the order in which they were asked for."""

    data: tuple[CronMeaning, ...]


@router.get("/cron")
async def explain_cron(schedule: Annotated[list[str], Query(max_length=MOST_AT_ONCE)]) -> CronMeanings:
    """Explain cron expressions: in words, and by the numbers that each field stands for."""
    return CronMeanings(data=tuple(map(_meaning, schedule)))


def _meaning(schedule: str) -> CronMeaning:
    try:
        return CronMeaning(schedule=schedule, words=cron_phrase(schedule), numbers=numbers_of(schedule))
    except ValueError as error:
        return CronMeaning(schedule=schedule, error=str(error))
