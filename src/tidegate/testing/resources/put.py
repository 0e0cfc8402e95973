"""Storing a resource together with its status: a create alone keeps none."""

from tidegate.ports.resource_store import R, ResourceStore


async def put(store: ResourceStore, resource: R) -> R:
    """Create it, then give it the status that it carries; the answer is what the store holds."""
    created = await store.create(resource)
    if created.status == resource.status:
        return created
    return await store.update_status(created.replace(status=resource.status))
