import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { get } from "../api/client";
import type { AuditEntry } from "../api/types";
import { type AuditWish, auditPath, outcomeWord } from "../logic/access";
import { command, flag } from "../logic/commands";
import { sentence } from "../parts/actions";
import { OnlyAdmins, Screen } from "../parts/screen";
import { FilterBox } from "../parts/table";
import { At, Phase } from "../parts/words";
import { param, setParams } from "../store/place";
import { mayManage } from "../store/session";

type Page = { data: AuditEntry[]; pagination: { next?: string | null } };

const SPANS = [
    { value: "", label: "Any time" },
    { value: "24h", label: "Last 24 hours" },
    { value: "7d", label: "Last 7 days" },
    { value: "30d", label: "Last 30 days" },
];
const TYPING_MS = 250;

export function AuditScreen() {
    const page = useSignal<Page | null>(null);
    const problem = useSignal("");
    const wish: AuditWish = {
        who: param("who"),
        what: param("what"),
        since: param("since"),
        marker: param("marker"),
    };
    useEffect(() => {
        if (!mayManage.value) return;
        let wanted = true;
        const later = setTimeout(() => {
            get<Page>(auditPath(wish, Date.now()))
                .then((found) => {
                    if (!wanted) return;
                    page.value = found;
                    problem.value = "";
                })
                .catch((error) => (problem.value = sentence(error)));
        }, TYPING_MS);
        return () => {
            wanted = false;
            clearTimeout(later);
        };
    }, [wish.who, wish.what, wish.since, wish.marker]);
    if (!mayManage.value) return <OnlyAdmins title="Audit" />;
    return (
        <Screen
            title="Audit"
            command={command(
                "audit",
                ...flag("who", wish.who),
                ...flag("what", wish.what),
                ...flag("since", wish.since),
            )}
            actions={<Filters since={wish.since} />}
        >
            {problem.value && (
                <p class="problem" role="alert">
                    {problem.value}
                </p>
            )}
            <div class="card">
                {page.value ? (
                    <Entries entries={page.value.data} />
                ) : (
                    <div class="empty">Asking the server for the audit…</div>
                )}
                <Pages older={page.value?.pagination.next ?? ""} inside={wish.marker !== ""} />
            </div>
        </Screen>
    );
}

function Filters({ since }: { since: string }) {
    return (
        <>
            <FilterBox label="Who" name="who" />
            <FilterBox label="What" name="what" />
            <select
                class="input"
                aria-label="When"
                value={since}
                onChange={(event) => setParams({ since: event.currentTarget.value, marker: null })}
            >
                {SPANS.map((span) => (
                    <option key={span.value} value={span.value}>
                        {span.label}
                    </option>
                ))}
            </select>
        </>
    );
}

function Entries({ entries }: { entries: AuditEntry[] }) {
    if (entries.length === 0)
        return (
            <div class="empty">
                <strong>Nothing found.</strong>
                <span>Every change, every refusal and every login is told here.</span>
            </div>
        );
    return (
        <div class="table-wrap" tabIndex={0} role="region" aria-label="Audit">
            <table>
                <thead>
                    <tr>
                        <th scope="col">When</th>
                        <th scope="col">Who</th>
                        <th scope="col" class="secondary">
                            Role
                        </th>
                        <th scope="col">What</th>
                        <th scope="col">Outcome</th>
                        <th scope="col" class="secondary">
                            From
                        </th>
                    </tr>
                </thead>
                <tbody>
                    {entries.map((entry, number) => (
                        <tr key={`${entry.at} ${number}`} data-row={entry.what} data-outcome={entry.outcome}>
                            <td>
                                <At time={entry.at} />
                            </td>
                            <td title={entry.via ? `by ${entry.via}` : "only a claim: nobody was let in"}>
                                {entry.via ? entry.who : `(${entry.who})`}
                            </td>
                            <td class="secondary">{entry.role}</td>
                            <td>
                                {entry.method} <code>{entry.what}</code>{" "}
                                {entry.note && <span class="muted small">{entry.note}</span>}
                            </td>
                            <td>
                                <Phase
                                    phase={entry.outcome < 400 ? "Completed" : "Failed"}
                                    words={`${outcomeWord(entry.outcome)} (${entry.outcome})`}
                                />
                            </td>
                            <td class="secondary">{entry.address}</td>
                        </tr>
                    ))}
                </tbody>
            </table>
        </div>
    );
}

function Pages({ older, inside }: { older: string; inside: boolean }) {
    if (!older && !inside) return null;
    return (
        <nav class="pager" aria-label="Pages">
            <span>the newest first</span>
            <span class="row">
                <button class="button small" disabled={!inside} onClick={() => setParams({ marker: null })}>
                    Newest
                </button>
                <button class="button small" disabled={!older} onClick={() => setParams({ marker: older })}>
                    Older
                </button>
            </span>
        </nav>
    );
}
