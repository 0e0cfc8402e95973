// The files in a backup: look into it, take one away, bring chosen ones back. Where one is, is in the address.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { get, pathOf } from "../api/client";
import type { Backup, FileListing, ListedFile } from "../api/types";
import { command, commands } from "../logic/commands";
import { bytes, plural } from "../logic/quantities";
import { crumbs, exactGlob, readable } from "../logic/tree";
import { ActionButton, sentence } from "../parts/actions";
import { Command } from "../parts/command";
import { Card } from "../parts/screen";
import { At } from "../parts/words";
import { param, setParams } from "../store/place";
import { mayAct } from "../store/session";
import type { Transfer } from "../store/resources";
import { canRestore } from "./backup_actions";
import { openRestoreWizard } from "./restore_wizard";
import { VolumePicker, volumeOf } from "./volume_picker";

/** `/v1/backups/NAME/files|content`; the path is percent-encoded already. */
const addressOf = (backup: string, what: "files" | "content", volume: string, path: string): string =>
    `${pathOf("backups", backup)}/${what}?volume=${encodeURIComponent(volume)}&path=${path}`;

export function Files({ backup, uploads }: { backup: Backup; uploads: Transfer[] }) {
    const trees = uploads.filter((one) => one.kind === "PodVolumeBackup" && one.status.phase === "Completed");
    const upload = trees.find((one) => volumeOf(one) === param("volume")) ?? trees[0];
    const open = param("files") === "open" || param("path") !== "";
    if (!upload) return null;
    return (
        <Card
            title="Files"
            label="Files"
            end={
                <>
                    <VolumePicker
                        uploads={trees}
                        chosen={upload}
                        choose={(one) => setParams({ volume: volumeOf(one), path: null, files: "open" })}
                    />
                    <button
                        class="button small"
                        aria-expanded={open}
                        onClick={() => setParams(open ? { files: null, path: null } : { files: "open" })}
                    >
                        {open ? "Hide" : "Browse"}
                    </button>
                </>
            }
        >
            {open && <Tree key={upload.metadata.uid} backup={backup} volume={volumeOf(upload)} />}
        </Card>
    );
}

function Tree({ backup, volume }: { backup: Backup; volume: string }) {
    const chosen = useSignal<ReadonlySet<string>>(new Set());
    const name = backup.metadata.name;
    const path = param("path");
    const toggle = (file: string) => {
        const next = new Set(chosen.value);
        if (!next.delete(file)) next.add(file);
        chosen.value = next;
    };
    const paths = [...chosen.value].map(exactGlob);
    return (
        <>
            <nav class="body crumbs" aria-label="Where in the tree">
                <button onClick={() => setParams({ path: null, files: "open" })}>{volume}</button>
                {crumbs(path).map((one) => (
                    <span key={one.path}>
                        / <button onClick={() => setParams({ path: one.path })}>{one.name}</button>
                    </span>
                ))}
            </nav>
            <Directory key={path} backup={name} volume={volume} path={path} chosen={chosen.value} toggle={toggle} />
            <div class="body stack">
                {chosen.value.size > 0 && (
                    <div class="row">
                        <span>{plural(chosen.value.size, "path is", "paths are")} ticked.</span>
                        {canRestore(backup) && (
                            <ActionButton
                                small
                                primary
                                action={{
                                    label: "Restore what is ticked",
                                    command: command(
                                        "restore",
                                        "create",
                                        "--from-backup",
                                        name,
                                        "--include-volumes",
                                        volume,
                                        ...paths.flatMap((one) => ["--include-paths", one]),
                                    ),
                                    done: "",
                                    run: async () => openRestoreWizard(name, { volumes: [volume], paths }),
                                }}
                            />
                        )}
                        <button class="button small" onClick={() => (chosen.value = new Set())}>
                            Untick all
                        </button>
                    </div>
                )}
                <Command text={commands.browse(name, volume, readable(path))} />
            </div>
        </>
    );
}

type DirectoryProps = {
    backup: string;
    volume: string;
    path: string;
    chosen: ReadonlySet<string>;
    toggle: (path: string) => void;
};

function Directory({ backup, volume, path, chosen, toggle }: DirectoryProps) {
    const files = useSignal<ListedFile[] | null>(null);
    const next = useSignal<string | undefined>(undefined);
    const problem = useSignal("");
    const asking = useSignal(false);
    const ask = async (marker = "") => {
        asking.value = true;
        problem.value = "";
        try {
            const more = marker ? `&marker=${encodeURIComponent(marker)}` : "";
            const page = await get<FileListing>(addressOf(backup, "files", volume, path) + more);
            files.value = [...(marker ? (files.value ?? []) : []), ...page.data];
            next.value = page.pagination.next;
        } catch (error) {
            problem.value = sentence(error);
        }
        asking.value = false;
    };
    useEffect(() => void ask(), []);
    return (
        <>
            {problem.value && (
                <div class="body stack">
                    <p class="problem" role="alert">
                        {problem.value}
                    </p>
                    <div>
                        <button class="button small" onClick={() => void ask()}>
                            Try again
                        </button>
                    </div>
                </div>
            )}
            {files.value === null && !problem.value && (
                <p class="body muted">Reading the list of files from the store…</p>
            )}
            {files.value?.length === 0 && <p class="body muted">This directory is empty.</p>}
            {files.value !== null && files.value.length > 0 && (
                <div class="table-wrap files" tabIndex={0} role="region" aria-label="Files of this directory">
                    <table>
                        <thead>
                            <tr>
                                <th scope="col">
                                    <span class="hidden-label">Restore</span>
                                </th>
                                <th scope="col">Name</th>
                                <th scope="col" class="number">
                                    Size
                                </th>
                                <th scope="col" class="number secondary">
                                    Changed
                                </th>
                                <th scope="col" class="secondary">
                                    Mode
                                </th>
                                <th scope="col">
                                    <span class="hidden-label">Actions</span>
                                </th>
                            </tr>
                        </thead>
                        <tbody>
                            {files.value.map((file) => (
                                <Row
                                    key={file.key}
                                    file={file}
                                    href={addressOf(backup, "content", volume, file.key)}
                                    command={commands.download(backup, volume, file.path)}
                                    ticked={chosen.has(file.path)}
                                    toggle={() => toggle(file.path)}
                                />
                            ))}
                        </tbody>
                    </table>
                </div>
            )}
            {next.value && (
                <div class="body">
                    <button class="button small" disabled={asking.value} onClick={() => void ask(next.value)}>
                        {asking.value ? "Asking for more…" : "Show more"}
                    </button>
                </div>
            )}
        </>
    );
}

type RowProps = { file: ListedFile; href: string; command: string; ticked: boolean; toggle: () => void };

function Row({ file, href, command: same, ticked, toggle }: RowProps) {
    const isFile = file.type === "file" || file.type === "hardlink";
    return (
        <tr data-file={file.name} data-type={file.type}>
            <td>
                {mayAct.value && (
                    <input type="checkbox" aria-label={`Restore ${file.name}`} checked={ticked} onChange={toggle} />
                )}
            </td>
            <td class="wide" title={file.path}>
                {file.type === "directory" ? (
                    <button class="name" onClick={() => setParams({ path: file.key })}>
                        {file.name}/
                    </button>
                ) : (
                    file.name
                )}
                {file.target && <span class="muted"> → {file.target}</span>}
            </td>
            <td class="number">{isFile ? bytes(file.size) : ""}</td>
            <td class="number secondary">
                <At time={file.modified} />
            </td>
            <td class="secondary muted">
                {file.mode} {file.uid}:{file.gid}
            </td>
            <td class="actions">
                {isFile && mayAct.value && (
                    <a
                        class="button small"
                        href={href}
                        download={file.name}
                        title={same}
                        aria-label={`Download ${file.name}`}
                    >
                        Download
                    </a>
                )}
            </td>
        </tr>
    );
}
