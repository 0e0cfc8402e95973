"""Notifications beyond what every kind has: what is checked when a rule is made, and a try."""

from fastapi import APIRouter, Depends, Request

from tidegate.api.auth import require_token, services_of
from tidegate.api.presenting import Wire
from tidegate.api.problems import refusals
from tidegate.api.services import Services
from tidegate.errors import InvalidInput, NotDelivered
from tidegate.model.notification import Notification, NotificationEvent
from tidegate.model.resource import Resource
from tidegate.ports.notifier import Notice

router = APIRouter(tags=["notifications"], dependencies=[Depends(require_token)])


async def admit_notification(services: Services, resource: Resource) -> Resource:
    """Raises InvalidInput if nothing could ever be sent: else it would be found out when something has failed."""
    assert isinstance(resource, Notification)  # noqa: S101  # see ADMISSIONS
    if NotificationEvent.TEST in resource.spec.events:
        raise InvalidInput("Test is no event to wait for; leave it out", field="spec.events")
    await services.notifier.check(resource.spec)
    return resource


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
