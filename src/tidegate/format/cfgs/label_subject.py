"""Whose data a backup is, read out of its labels: Longhorn's `KubernetesStatus` and our own."""

import json
from collections.abc import Mapping
from functools import lru_cache

from tidegate.format.cfgs.go_json import whole_characters
from tidegate.model.stores.catalogue import Subject

_KUBERNETES = "KubernetesStatus"
_LONGEST = 253
_MOST_WORKLOADS = 64


def subject_of(labels: Mapping[str, str]) -> Subject:
    """What the labels tell, ours before Longhorn's. What cannot be understood tells nothing: labels are anybody's."""
    return _subject(
        labels.get("tidegate.dev/namespace", ""), labels.get("tidegate.dev/volume", ""), labels.get(_KUBERNETES, "")
    )


@lru_cache(maxsize=4096)  # the backups of a volume mostly say the same
def _subject(namespace: str, volume: str, kubernetes: str) -> Subject:
    status = _kubernetes(kubernetes)
    workloads = status.get("workloadsStatus")
    listed = [one for one in workloads if isinstance(one, dict)] if isinstance(workloads, list) else []
    return Subject(
        namespace=namespace[:_LONGEST] or _text(status, "namespace"),
        claim=volume[:_LONGEST] or _text(status, "pvcName"),
        workload=_names(listed, "workloadName"),
        pod=_names(listed, "podName"),
    )


def _kubernetes(text: str) -> dict[str, object]:
    try:
        value = json.loads(text) if text else {}
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _text(fields: Mapping[str, object], name: str) -> str:
    value = fields.get(name)
    return whole_characters(value[:_LONGEST]) if isinstance(value, str) else ""


def _names(workloads: list[dict[str, object]], field: str) -> str:
    names = (_text(workload, field) for workload in workloads[:_MOST_WORKLOADS])
    return " ".join(sorted({name for name in names if name}))
