// Which namespaces a backup means, and which two backups share: for highlighting; the server decides.

const escaped = (text: string): string => text.replace(/[.+^${}()|\\]/g, "\\$&");

export function matches(glob: string, name: string): boolean {
    if (glob === name || glob === "*") return true;
    if (!/[*?[]/.test(glob)) return false;
    const pattern = escaped(glob).replace(/\*/g, ".*").replace(/\?/g, ".").replace(/\[!/g, "[^");
    try {
        return new RegExp(`^${pattern}$`).test(name);
    } catch {
        return false;
    }
}

export type Scope = { includedNamespaces: readonly string[]; excludedNamespaces: readonly string[] };

export const covers = (scope: Scope, namespace: string): boolean =>
    (scope.includedNamespaces.length === 0 || scope.includedNamespaces.some((glob) => matches(glob, namespace))) &&
    !scope.excludedNamespaces.some((glob) => matches(glob, namespace));

/** What is shown as chips: the names as they were written. */
export const chipsOf = (scope: Scope): string[] =>
    scope.includedNamespaces.length === 0 ? ["*"] : [...scope.includedNamespaces];

/** Those chips of `one` that mean something `other` means too. */
export function sharedChips(one: Scope, other: Scope): Set<string> {
    const others = chipsOf(other);
    return new Set(
        chipsOf(one).filter(
            (chip) => covers(other, chip) || others.some((glob) => matches(chip, glob) && covers(one, glob)),
        ),
    );
}
