"""How stores that count all their writes spell a count as a version."""

from typing import Protocol

from tidegate.errors import InvalidInput


class Versions(Protocol):
    """One spelling. What it spells, it reads back."""

    def spell(self, kind: str, count: int) -> str:
        """The version of a change of this kind: the so many-th write of the store."""
        ...

    def read(self, kind: str, version: str) -> int:
        """Which write that was; raises InvalidInput for what is no version of this kind."""
        ...


class DecimalVersions:
    """As the databases of every server have them."""

    def spell(self, kind: str, count: int) -> str:
        """Alike for all kinds."""
        del kind
        return str(count)

    def read(self, kind: str, version: str) -> int:
        """See Versions."""
        if not (version.isascii() and version.isdigit()):
            raise _no_version(kind, version)
        return int(version)


_BITS = 48
# Odd, so that it has an inverse; the golden part of the whole, so that neighbours are far apart.
_FACTOR = 0x9E3779B97F4B
_INVERSE = pow(_FACTOR, -1, 1 << _BITS)


class ScatteredVersions:
    """For the store that most tests use: who takes the greater of two versions, or one for another kind, is caught."""

    def spell(self, kind: str, count: int) -> str:
        """No order, neither as text nor as a number."""
        return f"{kind}.{count * _FACTOR % (1 << _BITS):012x}"

    def read(self, kind: str, version: str) -> int:
        """See Versions."""
        own, _, scattered = version.rpartition(".")
        if own != kind or len(scattered) != _BITS // 4 or not all(one in "0123456789abcdef" for one in scattered):
            raise _no_version(kind, version)
        return int(scattered, 16) * _INVERSE % (1 << _BITS)


def _no_version(kind: str, version: str) -> InvalidInput:
    return InvalidInput(f"{version!r} is no version of {kind}; take one from a list", field="resourceVersion")


DECIMAL = DecimalVersions()
SCATTERED = ScatteredVersions()
