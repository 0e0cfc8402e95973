import { computed, signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Queue } from "../api/types";
import { commands } from "../logic/commands";
import { chipsOf } from "../logic/globs";
import { plural } from "../logic/quantities";
import { type QueuePart, stillWaiting } from "../logic/queue_part";
import { ActionButton } from "../parts/actions";
import { Card, Screen } from "../parts/screen";
import { setSetting } from "../store/operations";
import { backups, need, setting, settings, targets } from "../store/resources";
import { mayAct, mayManage } from "../store/session";
import { inView, queue, waitingCount, watchQueue } from "../store/queue";
import { isOver, openBackupForm } from "./backup_actions";
import { RunningLane } from "./queue_running";
import { Timeline } from "./queue_timeline";
import { WaitingLane } from "./queue_waiting";

/** What the stream has told since the queue was last asked for: who is over does not run, who has left does not wait. */
function freshened(found: Queue, part: QueuePart): { found: Queue; part: QueuePart; total: number } {
    // Once all are known, who is not among them has been deleted.
    const unknown = backups.loaded.value ? "" : "New";
    const waits = (name: string): boolean => ["New", "Queued"].includes(backups.get(name)?.status.phase ?? unknown);
    const runs = (name: string): boolean => {
        const backup = backups.get(name);
        return !backup || !isOver(backup);
    };
    const fresh = stillWaiting(part, waits);
    return {
        found: {
            ...found,
            running: found.running.filter(runs),
            waiting: found.waiting.filter((row) => waits(row.name)),
        },
        part: fresh.part,
        total: waitingCount(found) - fresh.left,
    };
}

/** The row under the pointer or the focus. */
export const pointedAt = signal("");
/** Its namespaces: shown wherever they occur. */
export const lit = computed<ReadonlySet<string>>(() => {
    const backup = backups.get(pointedAt.value);
    return new Set(backup ? chipsOf(backup.spec) : []);
});

export function QueueScreen() {
    need(backups, settings, targets);
    useEffect(watchQueue, []);
    const fresh = queue.value && freshened(queue.value, inView.value);
    const now = fresh?.found;
    return (
        <Screen
            title="Queue"
            command={commands.queue()}
            actions={
                <>
                    <Pause paused={now?.paused ?? setting("backup-queue-paused") === "true"} />
                    {mayAct.value && (
                        <button class="button primary" onClick={() => openBackupForm()}>
                            Back up now
                        </button>
                    )}
                </>
            }
        >
            {now?.paused && (
                <p class="notice warn">
                    The queue is paused: what runs goes on, nothing else starts.{" "}
                    {plural(fresh!.total, "backup keeps its place", "backups keep their place")}.
                </p>
            )}
            {fresh && now ? (
                <>
                    <Card
                        title={lanes(now.running)}
                        label="Running and ready"
                        end={<Slots taken={now.running.length} limit={now.limit} />}
                    >
                        <RunningLane names={now.running} limit={now.limit} />
                    </Card>
                    <Card title={`Waiting (${fresh.total.toLocaleString("en")})`} label="Waiting">
                        <WaitingLane part={fresh.part} total={fresh.total} />
                    </Card>
                    <Card title="Last hour and forecast" label="Last hour and forecast">
                        <Timeline queue={now} />
                    </Card>
                </>
            ) : (
                <div class="card empty">Asking the server for the queue…</div>
            )}
        </Screen>
    );
}

/** Who has a slot: those that run, and those that may begin any moment. */
function lanes(names: readonly string[]): string {
    const ready = names.filter((name) => backups.get(name)?.status.phase === "ReadyToStart").length;
    return `Running (${names.length - ready}) · ready (${ready})`;
}

function Pause({ paused }: { paused: boolean }) {
    return (
        <ActionButton
            action={{
                label: paused ? "Resume the queue" : "Pause the queue",
                command: commands.pauseQueue(!paused),
                done: paused ? "The queue goes on." : "The queue is paused; what runs goes on.",
                run: () => setSetting("backup-queue-paused", String(!paused)),
            }}
        />
    );
}

function Slots({ taken, limit }: { taken: number; limit: number }) {
    const wanted = useSignal("");
    const value = wanted.value || String(limit);
    const changed = Number(value) !== limit && Number(value) >= 1;
    return (
        <div class="row">
            {limit <= 12 && (
                <span class="lane-slots" aria-hidden="true">
                    {Array.from({ length: limit }, (_, n) => (
                        <i key={n} data-taken={n < taken || undefined} />
                    ))}
                </span>
            )}
            <span class="muted">
                {taken} of {plural(limit, "slot")} taken
            </span>
            {mayManage.value && (
                <>
                    <label class="row">
                        <span class="muted">at most</span>
                        <input
                            class="input narrow"
                            type="number"
                            min={1}
                            value={value}
                            onInput={(event) => (wanted.value = event.currentTarget.value)}
                            aria-label="Backups at once (concurrent-backups)"
                        />
                    </label>
                    {changed && (
                        <ActionButton
                            small
                            primary
                            action={{
                                label: "Set the limit",
                                command: commands.set("concurrent-backups", value),
                                done: `At most ${plural(Number(value), "backup")} at once from now on.`,
                                run: async () => {
                                    await setSetting("concurrent-backups", value);
                                    wanted.value = "";
                                },
                            }}
                        />
                    )}
                </>
            )}
        </div>
    );
}
