"""The page's types say of each field whether it is always there."""

from tidegate.app.page_types import typescript
from tidegate.model.setting import CONCURRENT_BACKUPS

TABLE = {
    "Thing-Output": {
        "type": "object",
        "properties": {
            "name": {"type": "string", "default": ""},
            "size": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "parts": {"type": "array", "items": {"$ref": "#/components/schemas/Part-Output"}},
            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            "kind": {"const": "Thing"},
            "anything": {},
        },
    },
    "Thing-Input": {"type": "object"},
    "Part-Output": {"enum": ["a", "b"]},
}


def test_types_are_what_the_server_answers_with():
    made = typescript(TABLE, [])

    assert 'export type Part = "a" | "b";\n' in made
    assert (
        "export type Thing = {\n  name: string;\n  size?: number;\n  parts: (Part)[];\n"
        '  labels: Record<string, string>;\n  kind: "Thing";\n  anything: unknown;\n};\n'
    ) in made
    assert "Input" not in made


def test_settings_come_with_their_default_and_their_meaning():
    made = typescript({}, [CONCURRENT_BACKUPS])

    assert '"concurrent-backups": {\n    "default": "1",' in made
    assert CONCURRENT_BACKUPS.description in made
