// What left the lists and is still on its way out of a store.

import type { Deletion } from "../api/types";
import { canCancel, goesOn, whatGoes } from "../logic/catalogue";
import { command } from "../logic/commands";
import { plural } from "../logic/quantities";
import { ActionMenu } from "../parts/actions";
import { Command } from "../parts/command";
import { Card } from "../parts/screen";
import { Ago, Phase } from "../parts/words";
import { deletions } from "../store/resources";
import { deletionActions } from "./catalogue_actions";

const MOST_SHOWN = 20;
const ORDER = ["Refused", "Retrying", "Running", "Waiting", "Canceled"];
const rank = (one: Deletion): number => ORDER.indexOf(one.status.phase);

export function DeletionsCard({ again }: { again: () => void }) {
    const all = deletions.all();
    const open = all.filter((one) => goesOn(one) || one.status.phase === "Refused");
    const done = all.filter((one) => one.status.phase === "Done").length;
    if (open.length === 0 && done === 0) return null;
    const shown = open.sort((a, b) => rank(a) - rank(b)).slice(0, MOST_SHOWN);
    const words = open.length > 0 ? `${plural(open.length, "deletion")} under way` : "No deletion under way";
    return (
        <Card
            title={done > 0 ? `${words}, ${done.toLocaleString("en")} done within a day` : words}
            end={<Command text={command("deletion", "get")} />}
            label="Deletions"
        >
            {shown.length > 0 && (
                <div class="table-wrap" tabIndex={0} role="region" aria-label="Deletions under way">
                    <table>
                        <thead>
                            <tr>
                                <th scope="col">Volume</th>
                                <th scope="col">What goes</th>
                                <th scope="col">State</th>
                                <th scope="col" class="secondary">
                                    Why
                                </th>
                                <th scope="col" class="secondary number">
                                    Next try
                                </th>
                                <th scope="col">
                                    <span class="hidden-label">Actions</span>
                                </th>
                            </tr>
                        </thead>
                        <tbody>
                            {shown.map((one) => (
                                <Row key={one.metadata.uid} one={one} again={again} />
                            ))}
                        </tbody>
                    </table>
                </div>
            )}
            {open.length > MOST_SHOWN && <p class="muted body">and {plural(open.length - MOST_SHOWN, "other")}</p>}
        </Card>
    );
}

function Row({ one, again }: { one: Deletion; again: () => void }) {
    const { volume, target } = one.spec;
    return (
        <tr data-deletion={`${volume}@${target}`} data-phase={one.status.phase}>
            <td>
                <span class="name">{volume}</span> <span class="muted">in {target}</span>
            </td>
            <td>{whatGoes(one)}</td>
            <td>
                <Phase phase={one.status.phase} />
            </td>
            <td class="secondary wide" title={one.status.message}>
                {one.status.message}
            </td>
            <td class="secondary number">
                <Ago time={one.status.retryAt} />
            </td>
            <td class="actions">
                <ActionMenu of={one.metadata.name} actions={() => deletionActions(one, canCancel(one), again)} />
            </td>
        </tr>
    );
}
