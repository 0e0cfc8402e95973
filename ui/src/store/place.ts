// Where the user is: the address keeps screen, filter, sort and page, so that every view can be sent to somebody else.

import { signal } from "@preact/signals";

export type Place = { path: string; params: URLSearchParams };

const read = (): Place => ({ path: location.pathname, params: new URLSearchParams(location.search) });

export const place = signal<Place>({ path: "/", params: new URLSearchParams() });

export function startPlace(): void {
    place.value = read();
    addEventListener("popstate", () => (place.value = read()));
}

export function go(address: string): void {
    history.pushState(null, "", address);
    place.value = read();
    window.scrollTo(0, 0);
}

/** Change parts of the address in place: typing in a filter must not fill the history. */
export function setParams(changes: Record<string, string | null>): void {
    const params = new URLSearchParams(place.value.params);
    for (const [name, value] of Object.entries(changes)) {
        if (value) params.set(name, value);
        else params.delete(name);
    }
    const text = params.toString();
    history.replaceState(null, "", place.value.path + (text ? `?${text}` : ""));
    place.value = read();
}

export const param = (name: string): string => place.value.params.get(name) ?? "";
