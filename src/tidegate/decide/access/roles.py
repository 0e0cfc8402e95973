"""Which role a request needs. docs/access.md shows the same as a table for people.

The lines that were drawn: a viewer changes nothing. An operator does the everyday work. An administrator is needed for
what destroys backup data, and for what decides what is protected, where it goes and who may come in.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from tidegate.model.access.access import Role
from tidegate.model.kinds import KIND_BY_PLURAL
from tidegate.model.resource import Resource
from tidegate.model.schedules.schedule import Schedule

VIEWER, OPERATOR, ADMIN = Role.VIEWER, Role.OPERATOR, Role.ADMIN
READING_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass(frozen=True)
class Rule:
    """What one kind of request needs."""

    method: str
    path: str
    """Below /v1; `*` stands for one word."""
    role: Role
    action: str = ""
    """The action that is asked for with `?action=`."""
    reads: bool = False
    """Whether it changes nothing, whatever its method says."""

    @cached_property
    def words(self) -> list[str]:
        """The path word by word."""
        return self.path.split("/")


def _of_kind(kind: type[Resource]) -> tuple[Rule, ...]:
    one = f"/{kind.plural}/*/*" if kind.namespaced else f"/{kind.plural}/*"
    changes = tuple(
        Rule(method, path, _CHANGES.get((method, kind.plural), ADMIN))
        for method, path in (("POST", f"/{kind.plural}"), ("PUT", one), ("DELETE", one))
    )
    return (Rule("GET", f"/{kind.plural}", VIEWER), Rule("GET", one, VIEWER), *changes)


# Of the kinds' own routes those that an operator may use; all other changes are the administrator's.
_CHANGES = {
    ("POST", "backups"): OPERATOR,
    ("POST", "restores"): OPERATOR,
    ("POST", "verifications"): OPERATOR,
    ("POST", "systembackups"): OPERATOR,
    ("PUT", "schedules"): OPERATOR,  # to pause and resume; `schedule_refusal` holds the rest back
    ("DELETE", "restores"): OPERATOR,  # the record of one; no backup is lost with it
    ("DELETE", "verifications"): OPERATOR,
}

RULES: tuple[Rule, ...] = (
    *(rule for kind in KIND_BY_PLURAL.values() for rule in _of_kind(kind)),
    # Everyday work.
    Rule("POST", "/backups/*/cancel", OPERATOR),
    Rule("POST", "/backups/*/pin", OPERATOR),
    Rule("POST", "/backups/*/unpin", OPERATOR),
    # The data itself; who may only look sees that there are files, and not what is in them.
    Rule("GET", "/backups/*/content", OPERATOR),
    Rule("POST", "/restores/*/cancel", OPERATOR),
    # It tells what is at paths of the server that the caller names.
    Rule("POST", "/restore-plans", OPERATOR, reads=True),
    Rule("POST", "/verifications/*/cancel", OPERATOR),
    Rule("POST", "/schedules/*/run", OPERATOR),
    Rule("POST", "/queue/*/move", OPERATOR),
    Rule("POST", "/notifications/*/test", OPERATOR),
    Rule("POST", "/deletions/*/cancel", OPERATOR),
    Rule("POST", "/deletions/*/retry", OPERATOR),
    Rule("PUT", "/backuptargets", OPERATOR),  # syncs all
    Rule("PUT", "/backupvolumes", OPERATOR),  # syncs all
    Rule("POST", "/backuptargets/*", OPERATOR, action="backupTargetSync"),
    Rule("POST", "/backupvolumes/*", OPERATOR, action="backupVolumeSync"),
    # Destroying data, and changing what is kept where.
    Rule("POST", "/backuptargets/*", ADMIN, action="backupTargetUpdate"),
    Rule("POST", "/backuptargets/*", ADMIN, action="backupTargetAdopt"),
    Rule("POST", "/backupvolumes/*", ADMIN, action="backupDelete"),
    Rule("DELETE", "/backupvolumes/*", ADMIN),
    Rule("POST", "/catalogue/deletions", ADMIN),
    Rule("PUT", "/load", ADMIN),
    # Who may come in, and what they did.
    *(
        Rule(method, path, ADMIN)
        for noun in ("tokens", "users")
        for method, path in (
            ("GET", f"/{noun}"),
            ("POST", f"/{noun}"),
            ("PUT", f"/{noun}/*"),
            ("DELETE", f"/{noun}/*"),
        )
    ),
    Rule("GET", "/audit", ADMIN),
    # Looks.
    *(
        Rule("POST", "/backupvolumes/*", VIEWER, action=action, reads=True)
        for action in ("backupList", "backupListByVolume", "backupGet")
    ),
    *(
        Rule("GET", path, VIEWER)
        for path in (
            "",
            "/apiversions",
            "/backupvolumes",
            "/backupvolumes/*",
            "/backups/*/files",
            "/backups/*/log",
            "/catalogue/backups",
            "/catalogue/counts",
            "/catalogue/damage/*",
            "/catalogue/facets",
            "/catalogue/records",
            "/catalogue/status",
            "/catalogue/syncs/*/*",
            "/catalogue/volumes",
            "/cron",
            "/events",
            "/load",
            "/metrics",
            "/protection",
            "/queue",
            "/queue-workload",
            "/queue/*",
            "/restores/*/log",
            "/schedules/*/next",
            "/schemas",
            "/schemas/*",
            "/session",
            "/verifications/*/log",
            "/version",
        )
    ),
)


_BY_SHAPE: dict[tuple[str, int], list[Rule]] = {}
for _rule in RULES:
    _BY_SHAPE.setdefault((_rule.method, len(_rule.words)), []).append(_rule)


@dataclass(frozen=True)
class Need:
    """What a request needs, and whether it only looks."""

    role: Role
    reads: bool


def rules_for(method: str, path: str) -> list[Rule]:
    """All that are about this path below /v1, whatever action they name."""
    words = path.split("/")
    return [
        rule
        for rule in _BY_SHAPE.get((method, len(words)), ())
        if all(told in {"*", word} for told, word in zip(rule.words, words, strict=True))
    ]


def need_of(method: str, path: str, actions: Sequence[str] = ()) -> Need:
    """Of several rules the strictest holds; what no rule names is the administrator's, and a change."""
    # Several actions at once are none of those that rules name: which of them is meant is not ours to guess.
    asked = actions[0] if len(actions) == 1 else ""
    found = [rule for rule in rules_for(method, path) if rule.action in {"", asked}]
    if not found:
        return Need(ADMIN, reads=False)
    strictest = max(found, key=lambda rule: list(Role).index(rule.role))
    return Need(strictest.role, reads=method in READING_METHODS or all(rule.reads for rule in found))


def refusal(role: Role, need: Need) -> str | None:
    """Why this role may not; None if it may."""
    return None if role.includes(need.role) else f"this needs the role {need.role}, and yours is {role}"


def schedule_refusal(role: Role, stored: Schedule, wanted: Schedule) -> str | None:
    """An operator may pause and resume; all else decides what is protected and how long it is kept."""
    if role.includes(ADMIN):
        return None
    same = wanted.spec.replace(paused=stored.spec.paused) == stored.spec
    told = wanted.metadata.labels, wanted.metadata.annotations
    if same and told == (stored.metadata.labels, stored.metadata.annotations):
        return None
    return f"the role {role} may pause and resume a schedule, but not change it"
