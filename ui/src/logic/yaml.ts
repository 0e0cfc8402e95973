// Plain JSON values as YAML, the way `-o yaml` shows them.

const PLAIN = /^[A-Za-z_/.][A-Za-z0-9_./@ -]*$/;
const RESERVED = /^(true|false|null|yes|no|on|off|y|n|~|\.inf|\.nan)$/i;

function scalar(value: unknown): string {
    if (typeof value !== "string") return JSON.stringify(value) ?? "null";
    return PLAIN.test(value) && !RESERVED.test(value) && value.trim() === value ? value : JSON.stringify(value);
}

const isEmpty = (value: object): boolean => Object.keys(value).length === 0;

function lines(value: unknown, indent: string): string[] {
    if (Array.isArray(value)) {
        return value.flatMap((item) => {
            if (typeof item !== "object" || item === null || isEmpty(item as object))
                return [`${indent}- ${inline(item)}`];
            const [first = "", ...rest] = lines(item, `${indent}  `);
            return [`${indent}- ${first.trimStart()}`, ...rest];
        });
    }
    return Object.entries(value as object).flatMap(([key, item]) => {
        if (typeof item !== "object" || item === null || isEmpty(item as object))
            return [`${indent}${scalar(key)}: ${inline(item)}`];
        return [`${indent}${scalar(key)}:`, ...lines(item, Array.isArray(item) ? indent : `${indent}  `)];
    });
}

const inline = (value: unknown): string =>
    typeof value === "object" && value !== null ? (Array.isArray(value) ? "[]" : "{}") : scalar(value);

export const toYaml = (value: object): string => `${lines(value, "").join("\n")}\n`;
