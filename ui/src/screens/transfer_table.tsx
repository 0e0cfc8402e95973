// The volumes of one backup or restore, a row each.

import { bytes, plural } from "../logic/quantities";
import { Phase } from "../parts/words";
import type { Transfer } from "../store/resources";

const MOST_ROWS = 500;

/** What a backup's volumes added to the store is a column of its own; a restore adds nothing to it. */
export function TransferTable({ of, transfers }: { of: "backup" | "restore"; transfers: Transfer[] }) {
    const uploads = of === "backup";
    return (
        <div class="table-wrap" tabIndex={0} role="region" aria-label={`Volumes of this ${of}`}>
            <table>
                <thead>
                    <tr>
                        <th scope="col">Volume</th>
                        <th scope="col">Phase</th>
                        <th scope="col" class="number">
                            Size
                        </th>
                        {uploads && (
                            <th scope="col" class="number">
                                New
                            </th>
                        )}
                        <th scope="col" class="secondary">
                            Node
                        </th>
                        <th scope="col" class="secondary">
                            {uploads ? "In the store" : "What it says"}
                        </th>
                    </tr>
                </thead>
                <tbody>
                    {transfers.slice(0, MOST_ROWS).map(({ metadata, spec, status: { result, ...status } }) => {
                        const last = (uploads && result?.url) || status.message;
                        return (
                            <tr key={metadata.uid}>
                                <td>
                                    {spec.volumeNamespace}/{spec.volumeName}
                                </td>
                                <td title={status.message}>
                                    <Phase phase={status.phase} />
                                </td>
                                <td class="number">{result ? bytes(result.size) : "–"}</td>
                                {uploads && <td class="number">{result ? bytes(result.newBytes) : "–"}</td>}
                                <td class="secondary">{status.node ?? "–"}</td>
                                <td class="secondary wide" title={last}>
                                    {last}
                                </td>
                            </tr>
                        );
                    })}
                </tbody>
            </table>
            {transfers.length > MOST_ROWS && (
                <p class="body muted">and {plural(transfers.length - MOST_ROWS, "more volume", "more volumes")}</p>
            )}
        </div>
    );
}
