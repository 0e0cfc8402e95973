// Whether a backup restores: what was proven, when, by whom; and the proof that is under way.

import type { Backup, Verification } from "../api/types";
import { commands } from "../logic/commands";
import { bytes, plural } from "../logic/quantities";
import { type Action, ActionButton } from "../parts/actions";
import { Card } from "../parts/screen";
import { Ago, At, Phase, Reason } from "../parts/words";
import { cancelVerification, create, draft } from "../store/operations";
import { need, verifications } from "../store/resources";
import { canRestore } from "./backup_actions";
import { JobProgress } from "./job_progress";

const FINAL: ReadonlySet<string> = new Set(["Completed", "Failed", "FailedValidation", "Canceled"]);

function verifyAction(backup: Backup): Action {
    const name = backup.metadata.name;
    const called = `${name.slice(0, 40)}-${new Date().toISOString().slice(0, 19).replace(/\D/g, "")}`;
    const spec = { backupName: name };
    return {
        label: "Verify now",
        command: commands.verify(name, called),
        done: `${name} is restored into a scratch place and compared; the result is told here.`,
        run: () => {
            const drawn = {
                kind: "Verification",
                metadata: draft(called),
                spec,
                status: { phase: "New", conditions: [], events: [], errors: 0, warnings: 0 },
            };
            return create(verifications, drawn as unknown as Verification, { metadata: { name: called }, spec });
        },
    };
}

function cancelAction(name: string): Action {
    return {
        label: "Cancel",
        command: commands.cancelVerification(name),
        done: `${name} is being called off; what it restored is removed.`,
        danger: true,
        run: () => cancelVerification(name),
    };
}

export function Proof({ backup }: { backup: Backup }) {
    need(verifications);
    const mine = verifications
        .all()
        .filter((one) => (one.status.backupName ?? one.spec.backupName) === backup.metadata.name);
    const going = mine.find((one) => !FINAL.has(one.status.phase));
    return (
        <Card
            title="Verification"
            end={!going && canRestore(backup) && <ActionButton small action={verifyAction(backup)} />}
        >
            <div class="body stack">
                {going && <Going verification={going} />}
                <Record backup={backup} />
            </div>
        </Card>
    );
}

function Going({ verification }: { verification: Verification }) {
    const { status, metadata } = verification;
    const waiting = status.conditions.find((one) => one.type === "Waiting" && one.status === "True");
    return (
        <>
            <p class="row" data-verification={metadata.name}>
                <Phase phase={verification.spec.cancel ? "Cancelling" : status.phase} />
                {waiting ? (
                    <>
                        <Reason reason={waiting.reason} /> {waiting.message}
                    </>
                ) : (
                    <span class="muted">
                        {status.progress
                            ? `${status.progress.itemsVerified} of ${plural(status.progress.totalItems, "volume")} proven, ${bytes(status.progress.bytesVerified)}`
                            : "it is being worked out what has to be restored"}
                    </span>
                )}
                {!verification.spec.cancel && <ActionButton small action={cancelAction(metadata.name)} />}
            </p>
            <JobProgress job={verification} />
        </>
    );
}

function Record({ backup }: { backup: Backup }) {
    const record = backup.status.verification;
    if (!record?.verifiedAt && !record?.failedAt) return <p class="muted">Nobody has proven yet that it restores.</p>;
    return (
        <>
            {record.failedAt && (
                <p class="problem">
                    It did not restore <Ago time={record.failedAt} /> ({record.failedBy}): {record.failure}
                </p>
            )}
            {record.verifiedAt && (
                <dl class="facts">
                    <dt>Verified</dt>
                    <dd>
                        <At time={record.verifiedAt} /> (<Ago time={record.verifiedAt} />)
                    </dd>
                    <dt>By</dt>
                    <dd class="break">{record.verifiedBy}</dd>
                    <dt>How much</dt>
                    <dd>
                        {bytes(record.bytes)} in {plural(record.volumes, "volume")}, every byte read back
                    </dd>
                    {record.checkedWith && (
                        <>
                            <dt>Checked with</dt>
                            <dd>
                                <code>{record.checkedWith}</code>
                            </dd>
                        </>
                    )}
                </dl>
            )}
        </>
    );
}
