"""Where the credentials of targets are kept; a target has only the name."""

from typing import Protocol

from tidegate.errors import InvalidInput
from tidegate.model.mover_job import TargetAccess
from tidegate.model.target import BackupTargetSpec


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


async def access_to(target: BackupTargetSpec, secrets: SecretStore) -> TargetAccess:
    """How to reach this target now, with its credentials as they are now."""
    credentials = await secrets.read(target.credential_secret) if target.credential_secret else {}
    return TargetAccess(url=target.url, credentials=credentials)
