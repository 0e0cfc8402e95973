"""The web page's types, from the same schemas as docs/openapi.json: what the server renames, the page cannot miss."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from tidegate.model.setting import SettingDefinition

Schema = Mapping[str, Any]

_HEAD = "// Made by `make generate` from the server's schemas; change those, not this file.\n"
_PLAIN = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}


def typescript(schemas: Mapping[str, Schema], settings: Iterable[SettingDefinition]) -> str:
    """One type per schema, as the server answers: what may be absent is optional, all else is always there."""
    shown = {name: schema for name, schema in schemas.items() if not name.endswith("-Input")}
    types = [f"export type {_name(name)} = {_type(schema)};\n" for name, schema in sorted(shown.items())]
    known = {one.name: {"default": one.default, "description": one.description} for one in settings}
    table = json.dumps(known, indent=2)
    facts = f"export const KNOWN_SETTINGS: Record<string, {{ default: string; description: string }}> = {table};\n"
    return "\n".join([_HEAD, *types, facts])


def _name(schema: str) -> str:
    return schema.removesuffix("-Output").replace("-", "")


def _type(schema: Schema) -> str:
    if "$ref" in schema:
        return _name(str(schema["$ref"]).rpartition("/")[2])
    if "const" in schema or "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema.get("enum", [schema.get("const")]))
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(_type(one) for one in schema["anyOf"] if one.get("type") != "null"))
    return _built_in(schema)


def _built_in(schema: Schema) -> str:
    kind = schema.get("type", "")
    if kind == "array":
        return f"({_type(schema.get('items', {}))})[]"
    return _object(schema) if kind == "object" else _PLAIN.get(kind, "unknown")


def _object(schema: Schema) -> str:
    fields: Mapping[str, Schema] = schema.get("properties", {})
    if not fields:
        values = schema.get("additionalProperties")
        return f"Record<string, {_type(values) if isinstance(values, Mapping) else 'unknown'}>"
    lines = [f"  {name}{'?' if _may_be_absent(field) else ''}: {_type(field)};\n" for name, field in fields.items()]
    return "{\n" + "".join(lines) + "}"


def _may_be_absent(field: Schema) -> bool:
    """The server leaves out what has no value, and nothing else."""
    return any(one.get("type") == "null" for one in field.get("anyOf", ()))
