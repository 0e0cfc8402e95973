import { useSignal } from "@preact/signals";
import { Brand } from "../parts/brand";
import { sentence } from "../parts/actions";
import { param, setParams } from "../store/place";
import { login } from "../store/session";

export function DoorScreen({ message }: { message: string }) {
    const name = useSignal("");
    const secret = useSignal("");
    const problem = useSignal("");
    const busy = useSignal(false);
    const asUser = param("login") === "user";
    const onSubmit = async (event: Event) => {
        event.preventDefault();
        busy.value = true;
        problem.value = "";
        const key = asUser ? { user: name.value.trim(), password: secret.value } : { token: secret.value.trim() };
        await login(key)
            .then(() => setParams({ login: null }))
            .catch((error) => (problem.value = sentence(error)));
        busy.value = false;
    };
    const change = () => {
        secret.value = "";
        problem.value = "";
        setParams({ login: asUser ? null : "user" });
    };
    return (
        <main class="door">
            <form onSubmit={onSubmit}>
                <Brand />
                <h1>Log in</h1>
                {message && <p class="muted">{message}</p>}
                {asUser && (
                    <div class="field">
                        <label for="user">User</label>
                        <input
                            id="user"
                            class="input"
                            autoComplete="username"
                            autoCapitalize="none"
                            spellcheck={false}
                            required
                            autoFocus
                            value={name.value}
                            onInput={(event) => (name.value = event.currentTarget.value)}
                        />
                    </div>
                )}
                <div class="field">
                    <label for="secret">{asUser ? "Password" : "Token"}</label>
                    <input
                        key={asUser ? "password" : "token"}
                        id="secret"
                        aria-describedby={asUser ? undefined : "token-hint"}
                        class="input"
                        type="password"
                        autoComplete="current-password"
                        required
                        autoFocus={!asUser}
                        value={secret.value}
                        onInput={(event) => (secret.value = event.currentTarget.value)}
                    />
                    {!asUser && (
                        <small id="token-hint">
                            The owner's is in <code>admin.token</code> in the server's data directory.
                        </small>
                    )}
                </div>
                {problem.value && (
                    <p class="problem" role="alert">
                        {problem.value}
                    </p>
                )}
                <button class="button primary" type="submit" disabled={busy.value}>
                    {busy.value ? "Asking the server…" : "Log in"}
                </button>
                <button class="button quiet small" type="button" onClick={change}>
                    {asUser ? "Come in with a token" : "Come in with a name and a password"}
                </button>
            </form>
        </main>
    );
}
