"""How a share is mounted: URL and credentials in, commands out. Pure; `mounts` does what it says."""

from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote

from tidegate.errors import InvalidInput

_EXAMPLES = {"nfs": "nfs://server:/export/path", "cifs": "cifs://server/share"}
_OPTIONS_NAME = {"nfs": "nfsOptions", "cifs": "cifsOptions"}
# Longhorn's: soft, because a server that is gone must become an error and not a process that cannot be killed.
_NFS_DEFAULTS = tuple(f"nfsvers={version},actimeo=1,soft,timeo=300,retry=2" for version in ("4.2", "4.1", "4.0"))
_CIFS_DEFAULTS = ("soft",)


@dataclass(frozen=True)
class MountPlan:
    """What to mount, where below our directory, and the attempts to make, in order."""

    source: str
    folder: str
    helper: str
    """The program that knows this kind of file system."""
    attempts: tuple[str, ...]
    """The text of `-o`, one per attempt."""
    environment: dict[str, str] = field(default_factory=dict, repr=False)
    """Passwords go here: arguments can be seen by everybody."""


def plan_mount(scheme: str, rest: str, credentials: dict[str, str]) -> MountPlan:
    """Raises InvalidInput for a URL that names no share."""
    address, _, query = rest.partition("?")
    host, slash, path = address.partition("/")
    host, path = unquote(host).removesuffix(":"), unquote(path).strip("/")
    parts = path.split("/")
    if not host or not slash or not path or _odd(host) or any(part in {"", ".", ".."} or _odd(part) for part in parts):
        raise InvalidInput(
            f"'{scheme}://{rest}' does not name a share",
            field="spec.url",
            hint=f"write for example {_EXAMPLES[scheme]}",
        )
    given = ",".join(value for name, value in parse_qsl(query) if name == _OPTIONS_NAME[scheme] and value)
    if any(character.isspace() for character in given):
        raise InvalidInput(f"{_OPTIONS_NAME[scheme]} cannot contain spaces", field="spec.url")
    folder = f"{host.replace('.', '_')}/{path}"
    if scheme == "nfs":
        return MountPlan(f"{host}:/{path}", folder, "mount.nfs4", (given,) if given else _NFS_DEFAULTS)
    user = {"USER": credentials["CIFS_USERNAME"], "PASSWD": credentials["CIFS_PASSWORD"]} if credentials else {}
    attempts = (given,) if given else _CIFS_DEFAULTS
    return MountPlan(f"//{host}/{path}", folder, "mount.cifs", attempts, user)


def _odd(part: str) -> bool:
    """What a mount helper could take for an option or a second word."""
    return part.startswith("-") or any(character.isspace() or character in "\0\\," for character in part)


def mounted_source(mountinfo: str, folder: str) -> str | None:
    """What is mounted on `folder` now, by the text of /proc/self/mountinfo; the last mount counts."""
    found = None
    for line in mountinfo.splitlines():
        before, separator, behind = line.partition(" - ")
        fields, rest = before.split(" "), behind.split(" ")
        if separator and len(fields) > 4 and len(rest) > 1 and _unescaped(fields[4]) == folder:  # noqa: PLR2004
            found = _unescaped(rest[1])
    return found


def _unescaped(text: str) -> str:
    return text.replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\")
