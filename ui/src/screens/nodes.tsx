import type { Node } from "../api/types";
import { command, commands } from "../logic/commands";
import { nodeLimit, readLoad } from "../logic/load";
import { plural } from "../logic/quantities";
import { Command } from "../parts/command";
import { Link } from "../parts/link";
import { Plot } from "../parts/plot";
import { Card, Screen } from "../parts/screen";
import { Bar, Phase, Reason } from "../parts/words";
import {
    downloads,
    need,
    nodes,
    setting,
    settings,
    type Transfer,
    transfersDown,
    transfersUp,
    uploads,
} from "../store/resources";
import { isMoving, isPreparing, moving, preparing, sampled, startSampling } from "../store/samples";

const waits = (one: Transfer): boolean => one.status.phase === "New";

export function NodesScreen() {
    need(nodes, settings, ...uploads, ...downloads);
    startSampling();
    const load = readLoad(setting("load-concurrency"));
    const ups = transfersUp();
    const downs = transfersDown();
    const all = [...ups, ...downs];
    const most = load.prepareQueueLength && load.prepareQueueLength > 0 ? load.prepareQueueLength : undefined;
    return (
        <Screen title="Nodes and load" command={command("node", "get")}>
            <Card title={`Nodes (${nodes.size})`}>
                <div class="table-wrap" tabIndex={0} role="region" aria-label="Nodes">
                    <table>
                        <thead>
                            <tr>
                                <th scope="col">Node</th>
                                <th scope="col">State</th>
                                <th scope="col">Moving</th>
                                <th scope="col" class="number">
                                    Limit
                                </th>
                                <th scope="col" class="number secondary">
                                    Preparing
                                </th>
                                <th scope="col" class="number secondary">
                                    Waiting for it
                                </th>
                            </tr>
                        </thead>
                        <tbody>
                            {nodes.all().map((node) => (
                                <NodeRow
                                    key={node.metadata.name}
                                    node={node}
                                    all={all}
                                    limit={nodeLimit(load, node.metadata.labels, node.spec.slots)}
                                />
                            ))}
                        </tbody>
                    </table>
                </div>
                {nodes.size === 0 && (
                    <div class="empty">
                        {nodes.loaded.value ? "No node has registered." : "Loading nodes from the server…"}
                    </div>
                )}
            </Card>
            <div class="grid">
                <Card title="Prepare queue">
                    <div class="body stack">
                        <p>
                            {plural(all.filter(isPreparing).length, "transfer")} prepared or being prepared
                            {most ? `, of at most ${most}` : "; there is no limit"}.
                        </p>
                        <dl class="facts">
                            <dt>Backups</dt>
                            <dd>
                                {ups.filter(isPreparing).length} preparing, {ups.filter(waits).length} waiting
                            </dd>
                            <dt>Restores</dt>
                            <dd>
                                {downs.filter(isPreparing).length} preparing, {downs.filter(waits).length} waiting
                            </dd>
                        </dl>
                        <Reasons all={all} />
                    </div>
                </Card>
                <Card title="The limits">
                    <div class="body stack">
                        <p>
                            Limits are the setting <code>load-concurrency</code>;{" "}
                            <Link to="/settings?q=load">change it in the settings</Link>.
                        </p>
                        <pre class="source" tabIndex={0}>
                            {JSON.stringify(load, null, 2)}
                        </pre>
                        <Command text={commands.set("load-concurrency", '{"globalConfig": 2}')} />
                    </div>
                </Card>
            </div>
            <Card
                title="One hour"
                end={
                    <span class="legend">
                        <span class="key">moving</span>
                        <span class="key second">preparing</span>
                        <span>as far as this page was open</span>
                    </span>
                }
            >
                <div class="body">
                    <LoadPlot />
                </div>
            </Card>
        </Screen>
    );
}

function NodeRow({ node, all, limit }: { node: Node; all: Transfer[]; limit: number }) {
    const here = all.filter((one) => (one.status.node ?? one.spec.node) === node.metadata.name);
    const busy = here.filter(isMoving).length;
    return (
        <tr data-row={node.metadata.name}>
            <td class="name">{node.metadata.name}</td>
            <td>
                <Phase
                    phase={node.status.ready ? "Ready" : "Unreachable"}
                    words={node.status.ready ? "Ready" : "Not ready"}
                />
            </td>
            <td>
                <span class="row">
                    <Bar percent={(busy * 100) / limit} label={`Slots of ${node.metadata.name}`} />
                    {busy} of {limit}
                </span>
            </td>
            <td class="number">{limit}</td>
            <td class="number secondary">{here.filter(isPreparing).length}</td>
            <td class="number secondary">{here.filter(waits).length}</td>
        </tr>
    );
}

function Reasons({ all }: { all: Transfer[] }) {
    const counts = new Map<string, number>();
    for (const one of all) {
        const reason = one.status.conditions.find((condition) => condition.type === "Waiting")?.reason;
        if (reason && !["Completed", "Failed", "Canceled"].includes(one.status.phase))
            counts.set(reason, (counts.get(reason) ?? 0) + 1);
    }
    if (counts.size === 0) return <p class="muted">No transfer waits.</p>;
    return (
        <ul class="stack">
            {[...counts].map(([reason, count]) => (
                <li key={reason}>
                    <Reason reason={reason} /> {plural(count, "transfer")}
                </li>
            ))}
        </ul>
    );
}

function LoadPlot() {
    sampled.value;
    const times = moving.samples.map((sample) => sample.at / 1000);
    const series = [
        { label: "moving", values: moving.samples.map((sample) => sample.value) },
        { label: "preparing", values: preparing.samples.map((sample) => sample.value), dashed: true },
    ];
    return (
        <Plot
            label={`Transfers over the last hour, now ${moving.samples.at(-1)?.value ?? 0} moving`}
            times={times}
            series={series}
            span={3600}
            least={4}
            format={(value) => (Number.isInteger(value) ? String(value) : "")}
        />
    );
}
