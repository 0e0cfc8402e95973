import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { AccessToken } from "../api/types";
import { command } from "../logic/commands";
import type { Role } from "../logic/roles";
import { expiryOf } from "../logic/access";
import { type Action, ActionMenu, sentence } from "../parts/actions";
import { Command } from "../parts/command";
import { closeDialog, openDialog } from "../parts/dialog";
import { Form } from "../parts/form";
import { Link } from "../parts/link";
import { OnlyAdmins, Screen } from "../parts/screen";
import { type Column, FilterBox, Table } from "../parts/table";
import { Ago } from "../parts/words";
import { createToken, loadAccess, revokeToken, tokens, users } from "../store/access";
import { param } from "../store/place";
import { mayManage } from "../store/session";
import { openUserForm, ROLE_FIELD, UserTable } from "./users";

export function TokensScreen() {
    const problem = useSignal("");
    const people = param("show") === "users";
    useEffect(() => {
        if (mayManage.value) loadAccess().catch((error) => (problem.value = sentence(error)));
    }, []);
    if (!mayManage.value) return <OnlyAdmins title="Tokens" />;
    return (
        <Screen
            title="Tokens"
            command={command(people ? "user" : "token", "get")}
            actions={
                <>
                    <FilterBox label={people ? "Filter users" : "Filter tokens"} />
                    <button class="button primary" onClick={people ? openUserForm : openTokenForm}>
                        {people ? "Add a user" : "Make a token"}
                    </button>
                </>
            }
        >
            {problem.value && (
                <p class="problem" role="alert">
                    {problem.value}
                </p>
            )}
            <nav class="row tabs" aria-label="Tokens or users">
                <Link to="/tokens" current={!people} class="button small">
                    Tokens ({tokens.value?.length ?? 0})
                </Link>
                <Link to="/tokens?show=users" current={people} class="button small">
                    Users ({users.value?.length ?? 0})
                </Link>
            </nav>
            <div class="card">{people ? <UserTable /> : <TokenTable />}</div>
            <p class="muted small">
                The token in <code>admin.token</code> of the server's data directory is none of these: it always works.
            </p>
        </Screen>
    );
}

const revokeAction = (token: AccessToken): Action => ({
    label: "Revoke",
    command: command("token", "revoke", token.name, "--yes"),
    done: `${token.name} opens nothing any more.`,
    danger: true,
    run: () => revokeToken(token.name),
    ask: {
        title: `Revoke token ${token.name}?`,
        consequences: () => [
            "Whoever uses it is refused from this moment on; their sessions end.",
            "It cannot be brought back; a new one can be made.",
        ],
        confirm: "Revoke the token",
    },
});

const COLUMNS: Column<AccessToken>[] = [
    { key: "name", title: "Token", sort: (row) => row.name, cell: (row) => <span class="name">{row.name}</span> },
    { key: "role", title: "Role", sort: (row) => row.role, cell: (row) => <span class="chip">{row.role}</span> },
    {
        key: "used",
        title: "Last used",
        sort: (row) => row.lastUsedAt,
        cell: (row) => <Ago time={row.lastUsedAt} none="never" />,
    },
    {
        key: "expires",
        title: "Expires",
        sort: (row) => row.expiresAt,
        cell: (row) => <Ago time={row.expiresAt} none="never" />,
    },
    {
        key: "made",
        title: "Made",
        secondary: true,
        sort: (row) => row.createdAt,
        cell: (row) => (
            <>
                <Ago time={row.createdAt} /> by {row.createdBy}
            </>
        ),
    },
    {
        key: "actions",
        title: "",
        class: "actions",
        cell: (row) => <ActionMenu of={row.name} actions={() => [revokeAction(row)]} />,
    },
];

function TokenTable() {
    return (
        <Table
            label="Tokens"
            noun="token"
            rows={tokens.value ?? []}
            columns={COLUMNS}
            keyOf={(row) => row.name}
            text={(row) => `${row.name} ${row.role} ${row.createdBy}`}
            sort={{ column: "name", down: false }}
            loaded={tokens.value !== null}
            empty={
                <>
                    <strong>No token yet.</strong>
                    <span>A token lets a program in, with the role that you give it.</span>
                </>
            }
        />
    );
}

function openTokenForm(): void {
    let made = "";
    let name = "";
    openDialog("Make a token", () => (
        <Form
            submit="Make the token"
            fields={[
                { name: "name", label: "Name", required: true, hint: "What it is for." },
                ROLE_FIELD,
                { name: "days", label: "Days until it expires", kind: "number", hint: "Empty: until it is revoked." },
            ]}
            command={(values) =>
                command(
                    "token",
                    "create",
                    values["name"] || "NAME",
                    "--role",
                    values["role"],
                    ...(values["days"] ? ["--expires", `${values["days"]}d`] : []),
                )
            }
            send={async (values) => {
                name = values["name"] ?? "";
                made = (await createToken(name, values["role"] as Role, expiryOf(values["days"] ?? "", Date.now())))
                    .token;
                return `${name} can be used now.`;
            }}
            after={() => openDialog(`Token ${name}`, () => <Shown token={made} />)}
        />
    ));
}

/** The only time that anybody can see it: it is in no list and no store, and gone when this is closed. */
function Shown({ token }: { token: string }) {
    return (
        <>
            <p>Copy it now. It is not shown again, and nobody can look it up.</p>
            <Command text={token} label="Copy the token" />
            <footer>
                <button class="button primary" onClick={closeDialog}>
                    I have it
                </button>
            </footer>
        </>
    );
}
