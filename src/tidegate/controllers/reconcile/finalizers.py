"""Letting go of a resource that was held until somebody had cleaned up after it."""

from tidegate.model.resource import Resource
from tidegate.ports.resource_store import ResourceStore


async def let_go(store: ResourceStore, resource: Resource, finalizer: str) -> None:
    """Remove our finalizer; the store removes the resource with the last one."""
    kept = tuple(name for name in resource.metadata.finalizers if name != finalizer)
    await store.update(resource.with_metadata(finalizers=kept))
