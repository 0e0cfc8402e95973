import { signal } from "@preact/signals";
import { get, pathOf } from "../api/client";
import type { QueueExplanation } from "../api/types";
import { commands } from "../logic/commands";
import { type Action, sentence } from "../parts/actions";
import { Command } from "../parts/command";
import { openDialog } from "../parts/dialog";
import { backupLink, Link } from "../parts/link";
import { Ago, At, Reason } from "../parts/words";

const found = signal<QueueExplanation | string | null>(null);

export const explainAction = (name: string): Action => ({
    label: "Explain",
    command: commands.explain(name),
    done: "",
    run: async () => {
        found.value = null;
        openDialog(`Why ${name} waits`, () => <Explanation name={name} />);
        found.value = await get<QueueExplanation>(pathOf("queue", name)).catch(sentence);
    },
});

function Explanation({ name }: { name: string }) {
    const now = found.value;
    if (now === null) return <p class="muted">Asking the server what is in its way…</p>;
    if (typeof now === "string") return <p class="problem">{now}</p>;
    if (!now.position) return <p>It no longer waits: it is {now.phase}.</p>;
    return (
        <>
            <p>
                Number {now.position} in the queue, waiting since <At time={now.since} />, expected to start{" "}
                <Ago time={now.expectedStart} none="at a time that nobody can tell yet" />.
            </p>
            {now.obstacles.length === 0 && <p>Nothing is in its way; it starts with the next look.</p>}
            <ul class="stack">
                {now.obstacles.map((one) => (
                    <li key={one.message}>
                        <Reason reason={one.reason} /> {one.message}{" "}
                        {one.shared.length > 0 && (
                            <span class="chips" aria-label="Shared namespaces">
                                {one.shared.map((shared) => (
                                    <span key={shared} class="chip shared">
                                        {shared}
                                    </span>
                                ))}
                            </span>
                        )}
                    </li>
                ))}
            </ul>
            {now.moreObstacles > 0 && <p class="muted">and {now.moreObstacles} more obstacles</p>}
            {now.endsFirst.length > 0 && (
                <div>
                    <h3>What has to end first</h3>
                    <ul>
                        {now.endsFirst.slice(0, 20).map((one) => (
                            <li key={one.name}>
                                <Link class="plain" to={backupLink(one.name)}>
                                    {one.name}
                                </Link>{" "}
                                <span class="muted">
                                    {one.running ? "runs" : "waits itself"}
                                    {one.holdsUp === name ? "" : `, and holds up ${one.holdsUp}`}
                                </span>
                            </li>
                        ))}
                    </ul>
                </div>
            )}
            {now.orOneOf.length > 0 && (
                <p>And a slot has to become free: {now.orOneOf.slice(0, 10).join(", ")} hold them.</p>
            )}
            <Command text={commands.explain(name)} />
        </>
    );
}
