"""Notifications beyond what every kind has: a try."""

from fastapi import APIRouter, Depends, Request

from tidegate.api.problems import refusals
from tidegate.api.reads.presenting import Wire
from tidegate.api.security.auth import require_token, services_of
from tidegate.errors import NotDelivered
from tidegate.model.notifications.notification import Notification, NotificationEvent
from tidegate.ports.notifier import Notice

router = APIRouter(tags=["notifications"], dependencies=[Depends(require_token)])


@router.post("/notifications/{name}/test", responses=refusals(NotDelivered))
async def try_out(request: Request, name: str) -> Wire:
    """Send a test now and tell whether it was taken; nothing is tried again."""
    services = services_of(request)
    rule = await services.store.get(Notification, name)
    now = services.clock.now()
    notice = Notice(
        identity=f"test-{rule.metadata.uid}-{int(now.timestamp() * 1000)}",
        event=NotificationEvent.TEST,
        title=f"A test of notification {name}",
        message="If you read this, notifications of this Tidegate server arrive.",
        subject_kind=rule.kind,
        subject_name=name,
        occurred_at=now,
    )
    await services.notifier.send(rule.spec, notice)
    return {"notification": name, "delivered": True, "id": notice.identity}
