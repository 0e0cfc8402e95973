"""Settings as clients made for Longhorn know them: flat fields beside our own, and a body that is only a value."""

from collections.abc import Mapping

from tidegate.api.longhorn.bodies import checked, lowered
from tidegate.api.longhorn.manners import text_of
from tidegate.api.longhorn.shapes import Wire
from tidegate.errors import FormerSetting, InvalidInput, Refused
from tidegate.model.setting import KNOWN_SETTINGS, Setting, SettingDefinition

# No field of ours has such a name, so what was read can be sent back.
FLAT_SETTING_FIELDS = frozenset({"id", "type", "name", "value", "applied", "definition", "links", "actions"})
# Where Longhorn kept its only target before it had several. Its clients know from these words to use targets instead.
_FORMER = frozenset({"backup-target", "backup-target-credential-secret"})
# Longhorn's clients decide by this setting what they may ask. It names the version whose API this server speaks.
LONGHORN_VERSION = "current-longhorn-version"
_SPOKEN_VERSION = "v1.12.0"


def setting_shape(setting: Setting, *, base: str) -> Wire:
    """The flat fields of one setting."""
    return {
        "id": setting.name,
        "type": "setting",
        "name": setting.name,
        "value": setting.spec.value,
        "applied": True,
        "definition": _definition(KNOWN_SETTINGS[setting.name]),
        "links": {"self": f"{base}/v1/settings/{setting.name}"},
        "actions": {},
    }


def sent_value(name: str, sent: Mapping[str, object]) -> Setting:
    """`{"value": "5"}`: the setting with this value, without blanks around it."""
    body = lowered(sent)
    if "value" not in body:
        raise InvalidInput("value is missing", field="value", hint='send {"value": "..."}')
    return checked(Setting, {"metadata": {"name": name}, "spec": {"value": text_of(body, "value")}})


def version_shape(*, base: str) -> Wire:
    """The flat fields of the version of Longhorn whose API this server speaks."""
    return {
        "id": LONGHORN_VERSION,
        "type": "setting",
        "name": LONGHORN_VERSION,
        "value": _SPOKEN_VERSION,
        "applied": True,
        "definition": {
            "displayName": "Current Longhorn version",
            "description": "The version of Longhorn whose API this server speaks.",
            "category": "general",
            "type": "string",
            "required": True,
            "readOnly": True,
            "default": _SPOKEN_VERSION,
        },
        "links": {"self": f"{base}/v1/settings/{LONGHORN_VERSION}"},
        "actions": {},
    }


def refuse_former(name: str) -> None:
    """Raise FormerSetting, in the words that Longhorn's clients look for, for a setting that became targets."""
    if name in _FORMER:
        raise FormerSetting(
            f"setting {name} is not supported: stores are named by backup targets", hint="look at /v1/backuptargets"
        )


def refuse_read_only(name: str) -> None:
    """Raise Refused for a setting that nobody can change."""
    if name == LONGHORN_VERSION:
        raise Refused(f"setting {name} is read-only: it names the version of Longhorn whose API this server speaks")


def _definition(known: SettingDefinition) -> Wire:
    default = known.check(known.default)
    kind = "bool" if isinstance(default, bool) else "int" if isinstance(default, int) else "string"
    return {
        "displayName": known.name.replace("-", " ").capitalize(),
        "description": known.description,
        "category": str(known.category),
        # Amounts such as 512MiB are read as numbers, but not written as such.
        "type": "string" if kind == "int" and not known.default.isdecimal() else kind,
        "required": True,
        "readOnly": False,
        "default": known.default,
    }
