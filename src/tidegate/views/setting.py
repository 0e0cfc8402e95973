"""Settings as a table."""

from tidegate.model.setting import KNOWN_SETTINGS, Setting
from tidegate.views.table import Cell, Column, TableView, Tone


def _default(setting: Setting) -> str:
    definition = KNOWN_SETTINGS.get(setting.name)
    return "" if definition is None else definition.default


def _category(setting: Setting) -> str:
    definition = KNOWN_SETTINGS.get(setting.name)
    return "" if definition is None else definition.category


def _description(setting: Setting) -> str:
    definition = KNOWN_SETTINGS.get(setting.name)
    return "" if definition is None else definition.description


def _value(setting: Setting) -> Cell:
    changed = setting.spec.value != _default(setting)
    return Cell(setting.spec.value, Tone.BUSY if changed else Tone.PLAIN)


SETTINGS = TableView(
    (Setting,),
    (
        Column("NAME", lambda setting, _: setting.name),
        Column("VALUE", lambda setting, _: _value(setting)),
        Column("DEFAULT", lambda setting, _: _default(setting)),
        Column("CATEGORY", lambda setting, _: _category(setting)),
        Column("DESCRIPTION", lambda setting, _: _description(setting), wide=True),
    ),
)
