"""What this process may do beyond its user's rights, as Linux tells it."""

import os

_SYS_ADMIN = 1 << 21
# A user namespace that shows every user as itself: the system's own, whose root the kernel means.
_ALL_USERS = ["0", "0", str(2**32 - 1)]


def sees_trusted_attributes() -> bool:
    """Whether `trusted.*` attributes are shown: to CAP_SYS_ADMIN only, and not to the root of another namespace.

    To all others the kernel lists a file as if it had none.
    """
    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as status:
            effective = next(int(line.split()[1], 16) for line in status if line.startswith("CapEff:"))
        with open("/proc/self/uid_map", encoding="ascii") as users:
            is_system = [line.split() for line in users] == [_ALL_USERS]
    except (OSError, StopIteration, ValueError):
        return os.geteuid() == 0
    return bool(effective & _SYS_ADMIN) and is_system
