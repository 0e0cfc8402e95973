// Small things that every table shows: times, phases, reasons, namespaces, bars.

import { asDayClock, asExact } from "../logic/moments";
import { relative, time as parse } from "../logic/quantities";
import { chipsOf, type Scope } from "../logic/globs";
import { now } from "../store/clock";

/** How long ago, or in how long; exact on hover. */
export function Ago({ time, none = "–" }: { time: string | undefined; none?: string }) {
    const moment = parse(time);
    if (moment === undefined) return <span class="muted">{none}</span>;
    return (
        <time dateTime={time} title={asExact(moment)}>
            {relative(moment, now.value)}
        </time>
    );
}

/** The time of day, local; exact on hover. */
export function At({ time }: { time: string | undefined }) {
    const moment = parse(time);
    if (moment === undefined) return <span class="muted">–</span>;
    return (
        <time dateTime={time} title={asExact(moment)}>
            {asDayClock(moment)}
        </time>
    );
}

const TONES: Record<string, string> = {
    Completed: "good",
    Enabled: "good",
    Ready: "good",
    Available: "good",
    InProgress: "busy",
    ReadyToStart: "busy",
    Finalizing: "busy",
    Accepted: "busy",
    Prepared: "busy",
    CreatingVolumeBackups: "busy",
    Generating: "busy",
    Uploading: "busy",
    Syncing: "busy",
    Downloading: "busy",
    Restoring: "busy",
    RestoringVolumes: "busy",
    Checking: "busy",
    CleaningUp: "busy",
    Deleting: "warn",
    Canceling: "warn",
    Cancelling: "warn",
    Paused: "warn",
    Late: "warn",
    Skipped: "warn",
    PartiallyFailed: "bad",
    Failed: "bad",
    Error: "bad",
    FailedValidation: "bad",
    Unreachable: "bad",
    OtherStore: "bad",
    Refused: "bad",
    Retrying: "warn",
    Running: "busy",
    Never: "bad",
    FailedLast: "bad",
    NoSchedule: "warn",
    Protected: "good",
    Empty: "warn",
    CoversNothing: "warn",
};

const WORDS: Record<string, string> = {
    Empty: "Completed, empty",
    CoversNothing: "Covers nothing",
    CreatingVolumeBackups: "Creating volume backups",
    RestoringVolumes: "Restoring volumes",
    CleaningUp: "Cleaning up",
    InProgress: "In progress",
    OtherStore: "Another store",
    ReadyToStart: "Ready to start",
    PartiallyFailed: "Partially failed",
    FailedValidation: "Failed validation",
    FinalizingPartiallyFailed: "Finalizing",
    WaitingForPluginOperations: "Waiting",
    WaitingForPluginOperationsPartiallyFailed: "Waiting",
};

export function Phase({ phase, words }: { phase: string; words?: string }) {
    return (
        <span class="phase" data-tone={TONES[phase] ?? "calm"} data-phase={phase}>
            {words ?? WORDS[phase] ?? phase}
        </span>
    );
}

export const Reason = ({ reason, title }: { reason: string; title?: string | undefined }) => (
    <span class="chip reason" data-reason={reason} title={title}>
        {reason}
    </span>
);

type ChipsProps = { scope: Scope; shared?: ReadonlySet<string>; lit?: (name: string) => boolean; most?: number };

export function Namespaces({ scope, shared, lit, most = 3 }: ChipsProps) {
    const chips = chipsOf(scope);
    const except = scope.excludedNamespaces.length ? ` except ${scope.excludedNamespaces.join(", ")}` : "";
    return (
        <span class="chips" title={(chips[0] === "*" ? "all namespaces" : chips.join(", ")) + except}>
            {chips.slice(0, most).map((name) => (
                <span key={name} class={`chip ${shared?.has(name) ? "shared" : ""} ${lit?.(name) ? "lit" : ""}`}>
                    {name === "*" ? "all" : name}
                </span>
            ))}
            {chips.length > most && <span class="muted small">+{chips.length - most}</span>}
            {except && <span class="muted small">−{scope.excludedNamespaces.length}</span>}
        </span>
    );
}

export function Bar({ percent, label, stalled }: { percent: number | undefined; label: string; stalled?: boolean }) {
    return (
        <div
            class="bar"
            role="progressbar"
            aria-label={label}
            aria-valuemin={0}
            aria-valuemax={100}
            aria-valuenow={percent}
            data-stalled={stalled || undefined}
        >
            <i style={{ width: `${percent ?? 0}%` }} />
        </div>
    );
}
