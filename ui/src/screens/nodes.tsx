import { useEffect } from "preact/hooks";
import type { LoadedNode, LoadStatus, PrepareQueue, WaitingTransfers } from "../api/types";
import { command, commands } from "../logic/commands";
import { loadHistory } from "../logic/load_history";
import { plural } from "../logic/quantities";
import { Command } from "../parts/command";
import { Link } from "../parts/link";
import { Plot } from "../parts/plot";
import { Card, Screen } from "../parts/screen";
import { Bar, Phase, Reason } from "../parts/words";
import { now as clock } from "../store/clock";
import { load, watchLoad } from "../store/load";
import { downloads, need, nodes, settings, transfersDown, transfersUp, uploads } from "../store/resources";

export function NodesScreen() {
    need(nodes, settings, ...uploads, ...downloads);
    useEffect(watchLoad, []);
    const now = load.value;
    return (
        <Screen title="Nodes and load" command={command("load", "status")}>
            {now ? <Load now={now} /> : <div class="card empty">Asking the server what its nodes carry…</div>}
            <Card
                title="One hour"
                end={
                    <span class="legend">
                        <span class="key">moving</span>
                        <span class="key second">preparing</span>
                        <span>at most at once, as far as the records of transfers tell</span>
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

function Load({ now }: { now: LoadStatus }) {
    return (
        <>
            <Card title={`Nodes (${now.nodes.length})`}>
                <div class="table-wrap" tabIndex={0} role="region" aria-label="Nodes">
                    <table>
                        <thead>
                            <tr>
                                <th scope="col">Node</th>
                                <th scope="col">State</th>
                                <th scope="col">Moving</th>
                                <th scope="col" class="number secondary">
                                    Preparing
                                </th>
                                <th scope="col" class="secondary">
                                    Limit set by
                                </th>
                            </tr>
                        </thead>
                        <tbody>
                            {now.nodes.map((node) => (
                                <NodeRow key={node.name} node={node} />
                            ))}
                        </tbody>
                    </table>
                </div>
                {now.nodes.length === 0 && <div class="empty">No node has registered.</div>}
            </Card>
            <div class="grid">
                <Prepare queue={now.prepareQueue} waiting={now.waiting} />
                <Card title="The limits">
                    <div class="body stack">
                        <p>
                            Limits are the setting <code>load-concurrency</code>;{" "}
                            <Link to="/settings?q=load">change it in the settings</Link>.
                        </p>
                        <pre class="source" tabIndex={0}>
                            {JSON.stringify(now.configuration, null, 2)}
                        </pre>
                        <Command text={commands.set("load-concurrency", '{"globalConfig": 2}')} />
                    </div>
                </Card>
            </div>
        </>
    );
}

function NodeRow({ node }: { node: LoadedNode }) {
    const { running, preparing: made, limit, limitedBy } = node.load;
    return (
        <tr data-row={node.name}>
            <td class="name">{node.name}</td>
            <td>
                <Phase phase={node.ready ? "Ready" : "Unreachable"} words={node.ready ? "Ready" : "Not ready"} />
            </td>
            <td>
                <span class="row">
                    <Bar percent={limit ? Math.min(100, (running * 100) / limit) : 0} label={`Slots of ${node.name}`} />
                    {running} of {limit}
                </span>
            </td>
            <td class="number secondary">{made}</td>
            <td class="secondary">
                <span class="muted">{limitedBy}</span>
            </td>
        </tr>
    );
}

function Prepare({ queue, waiting }: { queue: PrepareQueue; waiting: WaitingTransfers[] }) {
    const all = queue.backups + queue.restores;
    return (
        <Card title="Prepare queue">
            <div class="body stack">
                <p>
                    {plural(all, "transfer")} prepared or being prepared
                    {queue.length ? `, of at most ${queue.length}` : "; there is no limit"}.
                </p>
                <dl class="facts">
                    <dt>Backups</dt>
                    <dd>{queue.backups}</dd>
                    <dt>Restores</dt>
                    <dd>
                        {queue.restores}
                        {queue.length ? (
                            <span class="muted">
                                {" "}
                                ({plural(queue.restoreShare, "place")} not taken by backups ahead of a node's turn)
                            </span>
                        ) : null}
                    </dd>
                </dl>
                {waiting.length === 0 && <p class="muted">No transfer waits.</p>}
                <ul class="stack">
                    {waiting.map((one) => (
                        <li key={one.phase + one.reason}>
                            <Reason reason={one.reason} /> {plural(one.backups, "backup volume")},{" "}
                            {plural(one.restores, "restore volume")}
                        </li>
                    ))}
                </ul>
            </div>
        </Card>
    );
}

// Drawn every few seconds: an hour does not move faster.
const DRAWN_MS = 5000;

function LoadPlot() {
    const at = Math.ceil(clock.value / DRAWN_MS) * DRAWN_MS;
    const { times, moving, preparing } = loadHistory([...transfersUp(), ...transfersDown()], at);
    const series = [
        { label: "moving", values: moving },
        { label: "preparing", values: preparing, dashed: true },
    ];
    return (
        <Plot
            label={`Transfers over the last hour, now ${moving.at(-1)} moving, at most ${Math.max(...moving)}`}
            times={times}
            series={series}
            span={3600}
            least={4}
            format={(value) => (Number.isInteger(value) ? String(value) : "")}
        />
    );
}
