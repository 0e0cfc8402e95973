"""Secrets that a test gives and may change."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tidegate.errors import InvalidInput


@dataclass
class FakeSecrets:
    """Keeps the promise of SecretStore without files. A changed secret counts at once."""

    known: dict[str, Mapping[str, str]] = field(default_factory=dict)

    async def read(self, name: str) -> dict[str, str]:
        """See SecretStore."""
        if name not in self.known:
            raise InvalidInput(f"there is no secret {name}", field="spec.credentialSecret")
        return dict(self.known[name])
