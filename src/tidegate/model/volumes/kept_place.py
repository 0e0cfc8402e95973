"""Directories of a machine that restores stay out of."""

from dataclasses import dataclass

from tidegate.model.plain import Plain


@dataclass(frozen=True, kw_only=True)
class KeptPlace(Plain):
    """Into, over and around it nothing is restored, wherever links lead by then."""

    path: str
    what: str
    """What it is, for a sentence: `the data directory of this server`."""

    @property
    def sentence(self) -> str:
        """Why a place that touches it is refused."""
        return f"is, holds or lies in {self.path}, {self.what}"


def data_directory(path: str) -> KeptPlace:
    """The server's own."""
    return KeptPlace(path=path, what="the data directory of this server")
