"""What the shell gives a command: its variables and the directory it runs in."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Environment:
    """The variables and the directory; everything else is derived from them."""

    variables: Mapping[str, str]
    directory: Path

    @classmethod
    def of_this_process(cls) -> "Environment":
        """As it is now."""
        return cls(variables=dict(os.environ), directory=Path.cwd())

    @property
    def home(self) -> Path:
        """The user's home directory."""
        home = self.variables.get("HOME", "")
        return Path(home) if home else Path.home()

    @property
    def config_home(self) -> Path:
        """Where the user keeps configuration."""
        return self._base("XDG_CONFIG_HOME", ".config")

    @property
    def state_home(self) -> Path:
        """Where the user keeps state."""
        return self._base("XDG_STATE_HOME", ".local/state")

    def absolute(self, path: str, *, base: Path | None = None) -> Path:
        """`path` as seen from `base`, or from where the command runs; `~` is the home directory."""
        if path == "~" or path.startswith("~/"):
            return self.home / path[2:]
        # Not resolved: a link that somebody typed may point elsewhere tomorrow.
        return Path(os.path.normpath((base or self.directory) / path))

    def _base(self, variable: str, below_home: str) -> Path:
        path = Path(self.variables.get(variable, ""))
        # The XDG specification has relative values ignored.
        return path if path.is_absolute() else self.home / below_home
