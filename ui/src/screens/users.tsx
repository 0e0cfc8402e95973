import { Problem } from "../api/client";
import type { User } from "../api/types";
import { command } from "../logic/commands";
import type { Role } from "../logic/roles";
import { type Action, ActionMenu } from "../parts/actions";
import { openDialog } from "../parts/dialog";
import { Form } from "../parts/form";
import { type Column, Table } from "../parts/table";
import { Ago, Phase } from "../parts/words";
import { changeOwnPassword } from "../store/session";
import { changeUser, createUser, deleteUser, users } from "../store/access";

export const ROLE_FIELD = {
    name: "role",
    label: "Role",
    kind: "select" as const,
    value: "viewer",
    options: [
        { value: "viewer", label: "viewer: sees everything, changes nothing" },
        { value: "operator", label: "operator: backs up, restores, cancels, moves" },
        { value: "admin", label: "admin: everything, deleting and settings included" },
    ],
};

const PASSWORD_FIELD = {
    name: "password",
    label: "Password",
    kind: "password" as const,
    required: true,
    hint: "At least 10 characters.",
};

const stateOf = (user: User): string => (user.disabled ? "Disabled" : "Enabled");

function actionsOf(user: User): Action[] {
    const { name } = user;
    return [
        {
            label: "Change the role",
            command: command("user", "set-role", name, "ROLE"),
            done: "",
            open: () => openRoleForm(user),
            run: async () => undefined,
        },
        {
            label: "Set a password",
            command: command("user", "set-password", name),
            done: "",
            open: () => openPasswordForm(name),
            run: async () => undefined,
        },
        {
            label: user.disabled ? "Enable" : "Disable",
            command: command("user", user.disabled ? "enable" : "disable", name),
            done: user.disabled ? `${name} can log in again.` : `${name} cannot come in any more.`,
            run: () => changeUser(name, { disabled: !user.disabled }),
        },
        {
            label: "Delete",
            command: command("user", "delete", name, "--yes"),
            done: `${name} is gone.`,
            danger: true,
            run: () => deleteUser(name),
            ask: {
                title: `Delete user ${name}?`,
                consequences: () => ["Their sessions end at once.", "What they did stays in the audit."],
                confirm: "Delete the user",
            },
        },
    ];
}

const COLUMNS: Column<User>[] = [
    { key: "name", title: "User", sort: (row) => row.name, cell: (row) => <span class="name">{row.name}</span> },
    { key: "role", title: "Role", sort: (row) => row.role, cell: (row) => <span class="chip">{row.role}</span> },
    { key: "state", title: "State", sort: stateOf, cell: (row) => <Phase phase={stateOf(row)} /> },
    {
        key: "login",
        title: "Last login",
        sort: (row) => row.lastLoginAt,
        cell: (row) => <Ago time={row.lastLoginAt} none="never" />,
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
        cell: (row) => <ActionMenu of={row.name} actions={() => actionsOf(row)} />,
    },
];

export function UserTable() {
    return (
        <Table
            label="Users"
            noun="user"
            rows={users.value ?? []}
            columns={COLUMNS}
            keyOf={(row) => row.name}
            text={(row) => `${row.name} ${row.role} ${stateOf(row)} ${row.createdBy}`}
            sort={{ column: "name", down: false }}
            loaded={users.value !== null}
            empty={
                <>
                    <strong>No user yet.</strong>
                    <span>A user logs in with a name and a password, and sees what the role allows.</span>
                </>
            }
        />
    );
}

export function openUserForm(): void {
    openDialog("Add a user", () => (
        <Form
            submit="Add the user"
            fields={[{ name: "name", label: "Name", required: true }, ROLE_FIELD, PASSWORD_FIELD]}
            command={(values) => command("user", "create", values["name"] || "NAME", "--role", values["role"])}
            send={async (values) => {
                const made = await createUser(values["name"] ?? "", values["role"] as Role, values["password"] ?? "");
                return `${made.name} can log in now, as ${made.role}.`;
            }}
        />
    ));
}

function openRoleForm(user: User): void {
    openDialog(`The role of ${user.name}`, () => (
        <Form
            submit="Change the role"
            fields={[{ ...ROLE_FIELD, value: user.role }]}
            command={(values) => command("user", "set-role", user.name, values["role"])}
            send={async (values) => {
                const changed = await changeUser(user.name, { role: values["role"] as Role });
                return `${user.name} is ${changed.role} from now on.`;
            }}
        />
    ));
}

function openPasswordForm(name: string): void {
    openDialog(`A password for ${name}`, () => (
        <Form
            submit="Set the password"
            fields={[PASSWORD_FIELD]}
            command={() => command("user", "set-password", name)}
            send={async (values) => {
                await changeUser(name, { password: values["password"] ?? "" });
                return `${name} has another password; older sessions are over.`;
            }}
        />
    ));
}

export function openOwnPasswordForm(name: string): void {
    openDialog("Change your password", () => (
        <Form
            submit="Change the password"
            fields={[
                { name: "old", label: "Password now", kind: "password", required: true },
                { ...PASSWORD_FIELD, label: "New password" },
                { ...PASSWORD_FIELD, name: "again", label: "New password again", hint: "" },
            ]}
            command={() => command("user", "password", name)}
            send={async (values) => {
                if (values["password"] !== values["again"])
                    throw new Problem(0, "", "the two new passwords are not the same");
                await changeOwnPassword(name, values["old"] ?? "", values["password"] ?? "");
                return "Your password is changed; your other sessions are over.";
            }}
        />
    ));
}
