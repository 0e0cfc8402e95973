// What all stores hold: searched on the server, scrolled without an end, as new as the last sync.

import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import type { CatalogueFacets } from "../api/types";
import {
    type CatalogueFilter,
    isEmpty,
    queryOf,
    readFilter,
    searchCommand,
    type StoredBackup,
    type StoredVolume,
    VOLUME_FILTERS,
} from "../logic/catalogue";
import { plural } from "../logic/quantities";
import { ActionButton, sentence } from "../parts/actions";
import { Screen } from "../parts/screen";
import { FilterBox } from "../parts/table";
import { askFacets, askVolumeCount, watchCatalogue } from "../store/catalogue";
import { FarRows } from "../store/far_rows";
import { param, place, setParams } from "../store/place";
import { backups, deletions, need, restores, targets } from "../store/resources";
import { mayAct } from "../store/session";
import { DeletionsCard } from "./catalogue_deletions";
import { Facets } from "./catalogue_facets";
import { BackupRows, type Listed, VolumeRows } from "./catalogue_rows";
import { deleteMatchingAction, openForAll } from "./catalogue_selection";
import { SyncCard } from "./catalogue_sync";

/** How many match, and by what they can be told apart; `of` is the query that it answers. */
type Found = { of: string; facets: CatalogueFacets; volumes: number };

export function CatalogueScreen() {
    need(backups, restores, targets, deletions);
    const volumes = param("view") === "volumes";
    const filter = readFilter(place.value.params, volumes ? VOLUME_FILTERS : undefined);
    const query = `${volumes}?${queryOf(filter)}`;
    const found = useSignal<Found | null>(null);
    const problem = useSignal("");
    const rows = useMemo(
        () =>
            new FarRows<StoredBackup & StoredVolume>(
                `/v1/catalogue/${volumes ? "volumes" : "backups"}?${queryOf(filter)}`,
            ),
        [query],
    );
    const news = useMemo(() => ({ soon: () => {} }), []);
    useEffect(() => {
        let live = true;
        const again = async () => {
            try {
                const [facets, count] = await Promise.all([askFacets(filter), volumes ? askVolumeCount(filter) : 0]);
                if (live) found.value = { of: query, facets, volumes: count };
                if (live) problem.value = "";
            } catch (error) {
                if (live) problem.value = sentence(error);
            }
            await rows.refresh();
        };
        // Typing asks once it pauses.
        let watch: ReturnType<typeof watchCatalogue> | undefined;
        const begin = setTimeout(
            () => {
                watch = watchCatalogue(again);
                news.soon = watch.soon;
            },
            found.value === null ? 0 : 200,
        );
        return () => {
            live = false;
            clearTimeout(begin);
            watch?.stop();
        };
    }, [query]);
    const listed: Listed = { rows, soon: () => news.soon() };
    return (
        <Screen
            title="Catalogue"
            command={searchCommand(filter, volumes)}
            actions={<FilterBox label="Search volumes, namespaces, claims" name="search" />}
        >
            <SyncCard />
            <DeletionsCard again={listed.soon} />
            <div class="card">
                <Views volumes={volumes} />
                {problem.value && (
                    <p class="problem" role="alert">
                        {problem.value}
                    </p>
                )}
                <Facets filter={filter} found={found.value?.facets} volumes={volumes} />
                <List key={query} query={query} found={found} filter={filter} volumes={volumes} listed={listed} />
            </div>
        </Screen>
    );
}

function Views({ volumes }: { volumes: boolean }) {
    const to = (view: string | null) => () => setParams({ view, from: null });
    return (
        <div class="row body" role="group" aria-label="What is listed">
            <button class="button small" aria-pressed={!volumes} onClick={to(null)}>
                Backups
            </button>
            <button class="button small" aria-pressed={volumes} onClick={to("volumes")}>
                Volumes
            </button>
        </div>
    );
}

type ListProps = {
    query: string;
    found: Signal<Found | null>;
    filter: CatalogueFilter;
    volumes: boolean;
    listed: Listed;
};

function List({ query, found, filter, volumes, listed }: ListProps) {
    const now = found.value;
    if (now?.of !== query) return <div class="empty">Asking the catalogue…</div>;
    const count = volumes ? now.volumes : now.facets.backups;
    if (count === 0) return <Nothing filtered={!isEmpty(filter)} />;
    return (
        <>
            <div class="row body">
                <strong aria-live="polite">
                    {now.facets.more && !volumes && "More than "}
                    {plural(count, volumes ? "volume" : "backup")}
                </strong>
                {now.facets.more && !volumes && (
                    <span class="muted">
                        The newest {count.toLocaleString("en")} can be scrolled; narrow it down to reach older ones.
                    </span>
                )}
                {!volumes && !isEmpty(filter) && <ForAll filter={filter} found={now.facets} again={listed.soon} />}
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
