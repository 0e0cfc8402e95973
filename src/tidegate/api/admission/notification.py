"""What a notification rule is checked against when it is made."""

from tidegate.api.services import Services
from tidegate.errors import InvalidInput
from tidegate.model.notifications.notification import Notification, NotificationEvent
from tidegate.model.resource import Resource


async def admit_notification(services: Services, resource: Resource) -> Resource:
    """Raises InvalidInput if nothing could ever be sent: else it would be found out when something has failed."""
    assert isinstance(resource, Notification)  # noqa: S101  # see ADMISSIONS
    if NotificationEvent.TEST in resource.spec.events:
        raise InvalidInput("Test is no event to wait for; leave it out", field="spec.events")
    await services.notifier.check(resource.spec)
    return resource
