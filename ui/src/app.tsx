import { useEffect, useRef } from "preact/hooks";
import { relative } from "./logic/quantities";
import { Brand } from "./parts/brand";
import { DialogHost } from "./parts/dialog";
import { Link } from "./parts/link";
import { ThemeButton } from "./parts/theme";
import { tell, Toasts } from "./parts/toasts";
import { AuditScreen } from "./screens/audit";
import { BackupScreen } from "./screens/backup";
import { isOver } from "./screens/backup_actions";
import { BackupsScreen } from "./screens/backups";
import { CatalogueScreen } from "./screens/catalogue";
import { DoorScreen } from "./screens/door";
import { NodesScreen } from "./screens/nodes";
import { Overview } from "./screens/overview";
import { QueueScreen } from "./screens/queue";
import { restoreIsOver } from "./screens/restore_actions";
import { RestoresScreen } from "./screens/restores";
import { RunningScreen } from "./screens/running";
import { SchedulesScreen } from "./screens/schedules";
import { SettingsScreen } from "./screens/settings";
import { SystemScreen } from "./screens/system";
import { TargetsScreen } from "./screens/targets";
import { TokensScreen } from "./screens/tokens";
import { openOwnPasswordForm } from "./screens/users";
import { VolumesScreen } from "./screens/volumes";
import { now } from "./store/clock";
import { connection } from "./store/live";
import { place } from "./store/place";
import { backups, downloads, need, restores, targets, uploads } from "./store/resources";
import { startSampling } from "./store/samples";
import { door, logout, mayManage } from "./store/session";

type Item = {
    path: string;
    title: string;
    screen: () => preact.JSX.Element;
    count?: () => number;
    bad?: boolean;
    admin?: boolean;
};

const running = (): number =>
    backups.all().filter((one) => !isOver(one) && !["New", "Queued"].includes(one.status.phase)).length +
    restores.all().filter((one) => !restoreIsOver(one)).length;

const SCREENS: Item[] = [
    { path: "/", title: "Overview", screen: Overview },
    {
        path: "/queue",
        title: "Queue",
        screen: QueueScreen,
        count: () => backups.all().filter((one) => one.status.phase === "Queued").length,
    },
    { path: "/running", title: "Running", screen: RunningScreen, count: running },
    { path: "/backups", title: "Backups", screen: BackupsScreen },
    { path: "/catalogue", title: "Catalogue", screen: CatalogueScreen },
    { path: "/restores", title: "Restores", screen: RestoresScreen },
    { path: "/volumes", title: "Volumes", screen: VolumesScreen },
    { path: "/schedules", title: "Schedules", screen: SchedulesScreen },
    { path: "/system", title: "System backups", screen: SystemScreen },
    {
        path: "/targets",
        title: "Targets",
        screen: TargetsScreen,
        count: () => targets.all().filter((one) => one.status.available === false).length,
        bad: true,
    },
    { path: "/nodes", title: "Nodes and load", screen: NodesScreen },
    { path: "/settings", title: "Settings", screen: SettingsScreen },
    { path: "/tokens", title: "Tokens", screen: TokensScreen, admin: true },
    { path: "/audit", title: "Audit", screen: AuditScreen, admin: true },
];

export function App() {
    const at = door.value;
    if (at.state === "asking") return <p class="first-words">Asking the server who you are…</p>;
    if (at.state === "closed") return <DoorScreen message={at.message} />;
    return <Frame user={at.session.user} role={at.session.role} />;
}

function Frame({ user, role }: { user: string; role: string }) {
    need(backups, restores, targets);
    const before = useRef(role);
    useEffect(() => {
        if (before.current !== role) tell("good", `Your role is ${role} from now on.`);
        before.current = role;
    }, [role]);
    useEffect(() => {
        // Plots need a past: sampling begins in the first quiet moment, not with the first look at a plot.
        const later = setTimeout(() => {
            need(...uploads, ...downloads);
            startSampling();
        }, 1500);
        return () => clearTimeout(later);
    }, []);
    return (
        <div class="frame">
            <a class="skip" href="#main">
                Skip to the content
            </a>
            <Banner />
            <aside class="side">
                <Link to="/" class="brand-link">
                    <Brand />
                </Link>
                <nav aria-label="Screens">
                    <ul>
                        {SCREENS.filter((item) => !item.admin || mayManage.value).map((item) => (
                            <NavItem key={item.path} item={item} />
                        ))}
                    </ul>
                </nav>
                <div class="side-foot">
                    <div class="line">
                        <Live />
                        <ThemeButton />
                    </div>
                    <div class="line who">
                        <Who user={user} role={role} />
                        <button class="button quiet small" onClick={() => void logout()}>
                            Log out
                        </button>
                    </div>
                </div>
            </aside>
            <main id="main" tabIndex={-1}>
                <Current />
            </main>
            <DialogHost />
            <Toasts />
        </div>
    );
}

function Who({ user, role }: { user: string; role: string }) {
    const at = door.value;
    const words = `${user} (${role})`;
    // Only who came in with a password has one to change.
    if (at.state !== "open" || at.session.via !== "user") return <span>{words}</span>;
    return (
        <button class="link" title="Change your password" onClick={() => openOwnPasswordForm(user)}>
            {words}
        </button>
    );
}

function NavItem({ item }: { item: Item }) {
    const path = place.value.path;
    const here = item.path === "/" ? path === "/" : path === item.path || path.startsWith(`${item.path}/`);
    const count = item.count?.() ?? 0;
    const line = useRef<HTMLLIElement>(null);
    // On a phone the screens are one line that is scrolled: where one is, must be seen.
    useEffect(() => {
        if (here) line.current?.scrollIntoView({ block: "nearest", inline: "center" });
    }, [here]);
    return (
        <li ref={line}>
            <Link to={item.path} current={here}>
                {item.title}
                {count > 0 && <span class={`count ${item.bad ? "bad" : ""}`}>{count.toLocaleString("en")}</span>}
            </Link>
        </li>
    );
}

function Current() {
    const path = place.value.path;
    const backup = /^\/backups\/([^/]+)$/.exec(path)?.[1];
    if (backup) return <BackupScreen key={backup} name={decodeURIComponent(backup)} />;
    const found = SCREENS.find((item) => item.path === path);
    if (!found)
        return (
            <div class="card empty">
                <strong>There is no such screen.</strong>
                <Link to="/">Go to the overview</Link>
            </div>
        );
    const Shown = found.screen;
    return <Shown key={found.path} />;
}

function Live() {
    const state = connection.value.state;
    return (
        <span class="live" data-state={state}>
            {{ live: "live", connecting: "connecting…", lost: "not connected" }[state]}
        </span>
    );
}

function Banner() {
    const at = connection.value;
    if (at.state !== "lost") return null;
    return (
        <div class="banner" role="alert">
            The server does not answer; what you see is from {relative(at.since, now.value)}. It is tried again by
            itself.
        </div>
    );
}
