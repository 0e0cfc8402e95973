// How many transfers each node may move: the same rule as the server's, for showing limits beside counts.

export type LoadConcurrency = {
    globalConfig?: number;
    perNodeConfig?: { nodeSelector?: { matchLabels?: Record<string, string> }; number: number }[];
    prepareQueueLength?: number;
};

export function readLoad(text: string | undefined): LoadConcurrency {
    try {
        return JSON.parse(text ?? "{}") as LoadConcurrency;
    } catch {
        return {};
    }
}

/** The smallest number of the rules that match, else the global one, else 1; never more than the node's own slots. */
export function nodeLimit(load: LoadConcurrency, labels: Record<string, string>, slots?: number): number {
    const matching = (load.perNodeConfig ?? [])
        .filter((rule) =>
            Object.entries(rule.nodeSelector?.matchLabels ?? {}).every(([key, value]) => labels[key] === value),
        )
        .map((rule) => rule.number);
    const limit = matching.length ? Math.min(...matching) : (load.globalConfig ?? 1);
    return slots === undefined ? limit : Math.min(limit, slots);
}
