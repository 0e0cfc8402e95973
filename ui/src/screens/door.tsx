import { useSignal } from "@preact/signals";
import { Brand } from "../parts/brand";
import { sentence } from "../parts/actions";
import { login } from "../store/session";

export function DoorScreen({ message }: { message: string }) {
    const token = useSignal("");
    const problem = useSignal("");
    const busy = useSignal(false);
    const onSubmit = async (event: Event) => {
        event.preventDefault();
        busy.value = true;
        problem.value = "";
        await login(token.value.trim()).catch((error) => (problem.value = sentence(error)));
        busy.value = false;
    };
    return (
        <main class="door">
            <form onSubmit={onSubmit}>
                <Brand />
                <h1>Log in</h1>
                {message && <p class="muted">{message}</p>}
                <div class="field">
                    <label for="token">Token</label>
                    <input
                        id="token"
                        aria-describedby="token-hint"
                        class="input"
                        type="password"
                        autoComplete="current-password"
                        required
                        autoFocus
                        value={token.value}
                        onInput={(event) => (token.value = event.currentTarget.value)}
                    />
                    <small id="token-hint">
                        It is in <code>admin.token</code> in the server's data directory.
                    </small>
                </div>
                {problem.value && (
                    <p class="problem" role="alert">
                        {problem.value}
                    </p>
                )}
                <button class="button primary" type="submit" disabled={busy.value}>
                    {busy.value ? "Asking the server…" : "Log in"}
                </button>
            </form>
        </main>
    );
}
