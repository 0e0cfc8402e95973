import type { CatalogueFacets, Facet } from "../api/types";
import { type CatalogueFilter, FILTERS, type FilterName, VOLUME_FILTERS } from "../logic/catalogue";
import { setParams } from "../store/place";

const FACETS: [FilterName, keyof CatalogueFacets, string][] = [
    ["target", "targets", "Target"],
    ["namespace", "namespaces", "Namespace"],
    ["state", "states", "State"],
    ["label", "labels", "Label"],
];

type Props = { filter: CatalogueFilter; found: CatalogueFacets | undefined; volumes: boolean };

/** What is chosen, and what could be: each with how many would be left. */
export function Facets({ filter, found, volumes }: Props) {
    const names = volumes ? VOLUME_FILTERS : FILTERS;
    const chosen = names.filter((name) => filter[name] && name !== "search");
    return (
        <div class="facets body">
            {chosen.length > 0 && (
                <div class="row">
                    <span class="muted small facet-name">Only</span>
                    {chosen.map((name) => (
                        <button
                            key={name}
                            class="chip lit"
                            aria-label={`Leave out the filter ${name} ${filter[name]}`}
                            onClick={() => setParams({ [name]: null, from: null })}
                        >
                            {name}: {filter[name]} ×
                        </button>
                    ))}
                </div>
            )}
            {found &&
                FACETS.filter(([name]) => names.includes(name) && !filter[name]).map(([name, key, title]) => (
                    <Values key={name} name={name} title={title} facet={found[key] as Facet} />
                ))}
        </div>
    );
}

function Values({ name, title, facet }: { name: FilterName; title: string; facet: Facet }) {
    if (facet.values.length === 0) return null;
    const about = facet.newest !== undefined ? `counted among the newest ${facet.newest.toLocaleString("en")}` : "";
    return (
        <div class="row" role="group" aria-label={title}>
            <span class="muted small facet-name">{title}</span>
            {facet.values.map(({ value, backups }) => (
                <button
                    key={value}
                    class="chip"
                    title={`${value}: ${backups.toLocaleString("en")} backups${about && `, ${about}`}`}
                    onClick={() => setParams({ [name]: value, from: null })}
                >
                    {value} <span class="muted">{backups.toLocaleString("en")}</span>
                </button>
            ))}
            {facet.more && <span class="muted small">and others</span>}
            {about && <span class="muted small">({about})</span>}
        </div>
    );
}

export function When({ filter }: { filter: CatalogueFilter }) {
    const field = (name: "since" | "until", label: string) => (
        <label class="small muted">
            {label}{" "}
            <input
                class="input date"
                type="date"
                value={filter[name]?.slice(0, 10) ?? ""}
                onChange={(event) => setParams({ [name]: event.currentTarget.value || null, from: null })}
            />
        </label>
    );
    return (
        <>
            {field("since", "Made since")}
            {field("until", "before")}
        </>
    );
}
