"""Where the credentials of targets are kept; a target has only the name."""

from typing import Protocol

from tidegate.errors import InvalidInput, StoreUnavailable
from tidegate.model.stores.target import BackupTarget
from tidegate.model.transfers.mover_job import TargetAccess


class SecretStore(Protocol):
    """Credentials by name. What it returns is never logged, stored or shown."""

    async def read(self, name: str) -> dict[str, str]:
        """The keys and values of this secret. Raises InvalidInput with a sentence if there is none or it is unsafe.

        Never NotFound: a target whose secret is missing is still a target, and must not look like one that is gone.
        """
        ...


class NoSecrets:
    """Keeps no secrets: for whoever has only targets without."""

    async def read(self, name: str) -> dict[str, str]:
        """See SecretStore."""
        raise InvalidInput(f"there is no secret {name}", field="spec.credentialSecret")


async def access_to(target: BackupTarget, secrets: SecretStore) -> TargetAccess:
    """How to reach this target's store now, and only that store, with its credentials as they are now.

    Raises StoreUnavailable while it is not known which store that is: after an upgrade, or when the URL has changed,
    until the target was looked at. One that nobody ever looked at was looked at when it was let in.
    """
    if not target.identified and target.status.available is not None:
        raise StoreUnavailable(f"target {target.name} was not looked at yet; which store it leads to is not known")
    return (await way_to(target, secrets)).replace(identity=target.status.store.identity if target.identified else "")


async def way_to(target: BackupTarget, secrets: SecretStore) -> TargetAccess:
    """How to reach whatever is there now: for the looks that find out which store that is."""
    secret = target.spec.credential_secret
    return TargetAccess(url=target.spec.url, credentials=await secrets.read(secret) if secret else {})
