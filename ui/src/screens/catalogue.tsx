// What all stores hold: searched on the server, scrolled without an end, as new as the last sync.

import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import type { CatalogueFacets } from "../api/types";
import {
    type CatalogueFilter,
    isEmpty,
    notReadYet,
    queryOf,
    readFilter,
    searchCommand,
    VOLUME_FILTERS,
} from "../logic/catalogue";
import { plural } from "../logic/quantities";
import { ActionButton, sentence } from "../parts/actions";
import { Screen } from "../parts/screen";
import { FilterBox } from "../parts/table";
import { askFacets, askVolumeCount, status as catalogueStatus, watchCatalogue } from "../store/catalogue";
import { FarRows } from "../store/far_rows";
import { param, place, setParams } from "../store/place";
import { backups, deletions, need, restores, targets } from "../store/resources";
import { mayAct } from "../store/session";
import { DeletionsCard } from "./catalogue_deletions";
import { Facets, When } from "./catalogue_facets";
import { BackupRows, type Listed, VolumeRows } from "./catalogue_rows";
import { deleteMatchingAction, openForAll } from "./catalogue_selection";
import { SyncCard } from "./catalogue_sync";

// Typing asks once it pauses.
const TYPING_MS = 200;

/** What was found for one query, with its first rows: shown until the next one has its own. */
type Found = {
    of: string;
    filter: CatalogueFilter;
    volumes: boolean;
    facets: CatalogueFacets;
    count: number;
    rows: Listed["rows"];
};

async function find(of: string, filter: CatalogueFilter, volumes: boolean, rows: Found["rows"]): Promise<Found> {
    const [facets, ofVolumes] = await Promise.all([
        askFacets(filter),
        volumes ? askVolumeCount(filter) : 0,
        rows.refresh(),
    ]);
    return { of, filter, volumes, facets, count: volumes ? ofVolumes : facets.backups, rows };
}

export function CatalogueScreen() {
    need(backups, restores, targets, deletions);
    const volumes = param("view") === "volumes";
    const filter = readFilter(place.value.params, volumes ? VOLUME_FILTERS : undefined);
    const query = `${volumes ? "volumes" : "backups"}?${queryOf(filter)}`;
    const found = useSignal<Found | null>(null);
    const problem = useSignal("");
    const news = useMemo(() => ({ soon: () => {} }), []);
    useEffect(() => {
        let live = true;
        const rows: Found["rows"] = new FarRows(`/v1/catalogue/${query}`);
        const again = async () => {
            try {
                const now = await find(query, filter, volumes, rows);
                if (!live) return;
                found.value = now;
                problem.value = "";
            } catch (error) {
                if (live) problem.value = sentence(error);
            }
        };
        let watch: ReturnType<typeof watchCatalogue> | undefined;
        const begin = setTimeout(
            () => {
                watch = watchCatalogue(again);
                news.soon = watch.soon;
            },
            found.value === null ? 0 : TYPING_MS,
        );
        return () => {
            live = false;
            clearTimeout(begin);
            watch?.stop();
        };
    }, [query]);
    const soon = () => news.soon();
    return (
        <Screen
            title="Catalogue"
            command={searchCommand(filter, volumes)}
            actions={<FilterBox label="Search all stores" name="search" />}
        >
            <SyncCard />
            <DeletionsCard again={soon} />
            <div class="card">
                <Views volumes={volumes} filter={filter} />
                {problem.value && (
                    <p class="problem" role="alert">
                        {problem.value}
                    </p>
                )}
                <Facets filter={filter} found={found.value?.facets} volumes={volumes} />
                {found.value ? (
                    <List key={found.value.of} found={found.value} soon={soon} />
                ) : (
                    <div class="empty">Asking the catalogue…</div>
                )}
            </div>
        </Screen>
    );
}

function Views({ volumes, filter }: { volumes: boolean; filter: CatalogueFilter }) {
    const to = (view: string | null) => () => setParams({ view, from: null });
    return (
        <div class="row body">
            <button class="button small" aria-pressed={!volumes} onClick={to(null)}>
                Backups
            </button>
            <button class="button small" aria-pressed={volumes} onClick={to("volumes")}>
                Volumes
            </button>
            {!volumes && <When filter={filter} />}
        </div>
    );
}

function List({ found, soon }: { found: Found; soon: () => void }) {
    const { count, facets, filter, volumes } = found;
    const listed = { rows: found.rows, soon };
    if (count === 0) return <Nothing filtered={!isEmpty(filter)} />;
    return (
        <>
            <div class="row body">
                <strong aria-live="polite">
                    {facets.more && !volumes && "More than "}
                    {plural(count, volumes ? "volume" : "backup")}
                </strong>
                {facets.more && !volumes && (
                    <span class="muted">
                        The newest {count.toLocaleString("en")} can be scrolled; narrow it down to reach older ones.
                    </span>
                )}
                {!volumes && !isEmpty(filter) && <ForAll filter={filter} found={facets} again={soon} />}
            </div>
            {volumes ? <VolumeRows count={count} listed={listed} /> : <BackupRows count={count} listed={listed} />}
        </>
    );
}

type ForAllProps = { filter: CatalogueFilter; found: CatalogueFacets; again: () => void };

function ForAll({ filter, found, again }: ForAllProps) {
    if (!mayAct.value) return null;
    return (
        <span class="row end" role="group" aria-label="With all that match">
            {(["restore", "pin", "verify"] as const).map((what) => (
                <button key={what} class="button small" onClick={() => openForAll(filter, what)}>
                    {{ restore: "Restore…", pin: "Pin…", verify: "Verify…" }[what]}
                </button>
            ))}
            {!found.more && <ActionButton small action={deleteMatchingAction(filter, found.backups, again)} />}
        </span>
    );
}

function Nothing({ filtered }: { filtered: boolean }) {
    const unread = notReadYet(catalogueStatus.value?.targets ?? []);
    if (unread.length > 0)
        return (
            <div class="empty">
                <strong>Not read yet: {unread.join(", ")}</strong>
                <span>What {unread.length === 1 ? "this store holds" : "these stores hold"} is not known.</span>
            </div>
        );
    if (!filtered)
        return (
            <div class="empty">
                <strong>The stores hold no backup yet, as far as the last syncs saw.</strong>
                <span>Back something up, or sync a target that holds backups of others.</span>
            </div>
        );
    return (
        <div class="empty">
            <strong>Nothing matches.</strong>
            <button class="button" onClick={() => setParams(NO_FILTER)}>
                Show everything
            </button>
        </div>
    );
}

export const NO_FILTER: Record<string, null> = {
    search: null,
    target: null,
    namespace: null,
    volume: null,
    state: null,
    label: null,
    since: null,
    until: null,
    from: null,
};
