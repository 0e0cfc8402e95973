"""Builds the one part that is written in C, where that is possible; everything works without it, only slower.

It is built for processors of the kind x86-64, with whatever compiler Python itself was built with or CC names, against
Python's stable interface: one wheel is good for every Python from 3.11 on. TIDEGATE_PURE=1 leaves it out.
"""

import os
import platform
import shlex
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_SOURCE = "src/tidegate/format/blocks/_sha512_lanes.c"
_BUILT = "src/tidegate/format/blocks/_sha512_lanes.abi3.so"


class LanesBuild(BuildHookInterface[Any]):
    """Compiles before a wheel is put together, or a checkout is installed in place."""

    def initialize(self, _version: str, build_data: dict[str, Any]) -> None:
        """See BuildHookInterface."""
        built = Path(self.root, _BUILT)
        built.unlink(missing_ok=True)  # an older one would stay where the compiler fails
        if not _is_wanted() or not _compile(Path(self.root, _SOURCE), built):
            self.app.display_warning("built without SHA-512 of several blocks side by side: hashlib does one by one")
            return
        system = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data |= {"pure_python": False, "tag": f"cp311-abi3-{system}"}
        build_data["artifacts"].append(_BUILT)


def _is_wanted() -> bool:
    return platform.machine() in {"x86_64", "amd64"} and not os.environ.get("TIDEGATE_PURE")


def _compile(source: Path, built: Path) -> bool:
    compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")
    flags = ["-O3", "-std=c11", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared"]
    # Under its name only when it is whole: others may load it from this checkout meanwhile.
    unfinished = built.with_suffix(".part")
    command = [*compiler, *flags, f"-I{sysconfig.get_path('include')}", str(source), "-o", str(unfinished)]
    try:
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)  # noqa: S603
        unfinished.replace(built)
    except (OSError, subprocess.CalledProcessError):
        unfinished.unlink(missing_ok=True)
        return False
    return True
