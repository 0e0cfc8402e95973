// Calls of /v1. Every failure is a Problem with a sentence that can be shown as it is.

export class Problem extends Error {
    constructor(
        readonly status: number,
        readonly code: string,
        message: string,
        readonly hint = "",
        readonly field = "",
    ) {
        super(message);
    }

    get sentence(): string {
        return this.hint ? `${this.message}. ${this.hint}` : this.message;
    }
}

export const UNREACHABLE = 0;

type Document = { detail?: string; code?: string; hint?: string; field?: string };

/** What a failed answer says; a proxy's own page is not read out to the user. */
export function problemFrom(status: number, text: string): Problem {
    try {
        const found = JSON.parse(text) as Document;
        if (found.detail) return new Problem(status, found.code ?? "", found.detail, found.hint, found.field);
    } catch {
        // not a problem document
    }
    return new Problem(status, "", `the server answered with status ${status}`);
}

type Listener = () => void;
let onRefused: Listener = () => undefined;

/** Who wants to know that the session is over, or may do less than the page believed. */
export function whenRefused(listener: Listener): void {
    onRefused = listener;
}

export async function request(method: string, path: string, options: { body?: unknown; signal?: AbortSignal } = {}) {
    const headers: Record<string, string> = { Accept: "application/json" };
    if (method !== "GET") headers["X-Tidegate-CSRF"] = "1";
    if (options.body !== undefined) headers["Content-Type"] = "application/json";
    const init: RequestInit = { method, headers, credentials: "same-origin", cache: "no-store" };
    if (options.body !== undefined) init.body = JSON.stringify(options.body);
    if (options.signal) init.signal = options.signal;
    let answer: Response;
    try {
        answer = await fetch(path, init);
    } catch {
        throw new Problem(UNREACHABLE, "ServerUnreachable", "the server does not answer");
    }
    if (answer.ok) return answer;
    const problem = problemFrom(answer.status, await answer.text().catch(() => ""));
    // Who asks there waits for the answer, and knows what a refusal means.
    const atTheDoor = path === "/v1/login" || path === "/v1/session";
    if ([401, 403].includes(problem.status) && !atTheDoor) onRefused();
    throw problem;
}

export async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const answer = await request(method, path, { body });
    return (answer.status === 204 ? undefined : await answer.json()) as T;
}

export const get = <T>(path: string): Promise<T> => call<T>("GET", path);

export function pathOf(plural: string, name: string, namespace = ""): string {
    const words = namespace ? [plural, namespace, name] : [plural, name];
    return `/v1/${words.map(encodeURIComponent).join("/")}`;
}
