// Where a backup stands among the backups of the same volume.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { get } from "../api/client";
import { chainAround, type Linked } from "../logic/chain";
import { bytes } from "../logic/quantities";
import { backupLink, Link } from "../parts/link";
import { Card } from "../parts/screen";
import { Ago, Bar } from "../parts/words";
import { sentence } from "../parts/actions";
import { untilKnown } from "../store/catalogue";
import type { Transfer } from "../store/resources";
import { VolumePicker } from "./volume_picker";

const MOST = 200;
const STORE_VOLUME = "tidegate.dev/store-volume";

/** What the store holds of the volume, and which of it we have records of: the names of their Backups. */
type Found = { all: Linked[]; records: Map<string, string> };

async function look(upload: Transfer): Promise<Found> {
    const { target, storeVolume } = upload.spec;
    const query = new URLSearchParams({ target, volume: storeVolume, limit: String(MOST) });
    const selector = `${STORE_VOLUME}=${upload.metadata.labels[STORE_VOLUME] ?? ""}`;
    const plural = upload.kind === "DataUpload" ? "datauploads" : "podvolumebackups";
    const [listed, uploads] = await Promise.all([
        get<{ data: Linked[] }>(`/v1/catalogue/backups?${query}`),
        get<{ data: Transfer[] }>(`/v1/${plural}?labelSelector=${encodeURIComponent(selector)}`),
    ]);
    const records = uploads.data.flatMap((one): [string, string][] => {
        const owner = one.metadata.ownerReferences[0]?.name;
        return owner ? [[one.spec.storeBackup, owner]] : [];
    });
    return { all: listed.data, records: new Map(records) };
}

export function Chain({ uploads }: { uploads: Transfer[] }) {
    const written = uploads.filter((one) => one.status.phase === "Completed");
    const chosen = useSignal("");
    const upload = written.find((one) => one.metadata.name === chosen.value) ?? written[0];
    if (!upload) return null;
    return (
        <Card
            title="Chain"
            label="Chain"
            end={
                <VolumePicker uploads={written} chosen={upload} choose={(one) => (chosen.value = one.metadata.name)} />
            }
        >
            <Links key={upload.metadata.uid} upload={upload} />
        </Card>
    );
}

function Links({ upload }: { upload: Transfer }) {
    const found = useSignal<Found | string | null>(null);
    const { target, storeBackup } = upload.spec;
    useEffect(
        () =>
            untilKnown(async () => {
                const answer = await look(upload).catch((error: unknown) => sentence(error));
                found.value = answer;
                return typeof answer === "string" || answer.all.some((one) => one.name === storeBackup);
            }),
        [],
    );
    if (found.value === null) return <p class="body muted">Asking the catalogue what else there is of it…</p>;
    if (typeof found.value === "string") return <p class="problem">{found.value}</p>;
    const { all, records } = found.value;
    const { links, newer, older } = chainAround(all, storeBackup);
    if (!links.some((one) => one.here))
        return <p class="body muted">The catalogue does not know it yet; it is read with the next sync of {target}.</p>;
    return (
        <div class="body stack">
            <ol class="chain" aria-label="Backups of this volume, the newest first">
                {newer > 0 && <li class="muted">{newer} newer</li>}
                {links.map((one) => (
                    <li key={one.name} aria-current={one.here ? "true" : undefined}>
                        <span title={one.name}>
                            {!one.here && records.get(one.name) ? (
                                <Link to={backupLink(records.get(one.name)!)}>{records.get(one.name)}</Link>
                            ) : (
                                records.get(one.name) || one.name
                            )}
                        </span>
                        <span class="secondary">
                            <Bar percent={one.share} label={`New bytes of ${one.name}`} />
                        </span>
                        <span class="number">{bytes(one.added)} new</span>
                        <span class="number muted secondary">
                            <Ago time={one.created} />
                        </span>
                    </li>
                ))}
                {older > 0 && <li class="muted">{older} older</li>}
            </ol>
            <p class="muted small">
                Equal blocks are kept once. Each backup is whole by itself: deleting one harms no other.
            </p>
        </div>
    );
}
