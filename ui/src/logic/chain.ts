// The volume backups around one of them: what each added to the store.

export type Linked = { name: string; created: string; newlyUploadDataSize: string; size: string };
export type ChainLink = { name: string; created: string; added: number; here: boolean; share: number };

const AROUND = 6;

/** Newest first, as the catalogue tells them: some on each side of `here`, each with its share of the largest. */
export function chainAround(
    all: readonly Linked[],
    here: string,
): { links: ChainLink[]; newer: number; older: number } {
    const at = all.findIndex((one) => one.name === here);
    const first = Math.max(0, at - AROUND);
    const shown = all.slice(first, Math.max(at, 0) + AROUND + 1);
    const most = Math.max(1, ...shown.map((one) => Number(one.newlyUploadDataSize) || 0));
    const links = shown.map((one) => {
        const added = Number(one.newlyUploadDataSize) || 0;
        return { name: one.name, created: one.created, added, here: one.name === here, share: (added * 100) / most };
    });
    return { links, newer: first, older: all.length - first - shown.length };
}
