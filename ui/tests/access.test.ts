import { describe, expect, test } from "vitest";
import { auditPath, expiryOf, outcomeWord, sinceOf } from "../src/logic/access";
import { commands } from "../src/logic/commands";
import { includes, roleFor } from "../src/logic/roles";

describe("an action needs what its command needs", () => {
    test.each([
        [commands.cancelBackup("a"), "operator"],
        [commands.pinBackup("a", false), "operator"],
        [commands.move("a", 1), "operator"],
        [commands.runSchedule("a"), "operator"],
        [commands.pauseSchedule("a", true), "operator"],
        [commands.deleteRestore("a"), "operator"],
        ["tidegate target sync usb", "operator"],
        ["tidegate notification test mail", "operator"],
        [commands.deleteBackup("a"), "admin"],
        [commands.deleteVolume("shop/db"), "admin"],
        [commands.deleteTarget("usb"), "admin"],
        [commands.deleteSchedule("a"), "admin"],
        [commands.pauseQueue(true), "admin"],
        [commands.set("concurrent-backups", "3"), "admin"],
        [commands.unset("concurrent-backups"), "admin"],
        ["tidegate token revoke ci --yes", "admin"],
        ["tidegate user set-role alice admin", "admin"],
    ])("%s", (command, role) => expect(roleFor(command)).toBe(role));
    test("who has more may do what others with less may", () => {
        expect(includes("admin", "operator")).toBe(true);
        expect(includes("operator", "operator")).toBe(true);
        expect(includes("viewer", "operator")).toBe(false);
    });
});

describe("the audit is asked for as the address says", () => {
    const noon = Date.UTC(2026, 0, 1, 12);
    test("only what was given is sent", () => {
        expect(auditPath({ who: "", what: "", since: "", marker: "" }, noon)).toBe("/v1/audit?limit=100");
        expect(auditPath({ who: "alice", what: "backups/a b", since: "24h", marker: "7" }, noon)).toBe(
            "/v1/audit?limit=100&who=alice&what=backups%2Fa+b&since=2025-12-31T12%3A00%3A00.000Z&marker=7",
        );
    });
    test("a span that nobody offered is no span", () => {
        expect(sinceOf("7d", noon)).toBe("2025-12-25T12:00:00.000Z");
        expect(sinceOf("soon", noon)).toBeUndefined();
    });
    test.each([
        [201, "Done"],
        [401, "Refused"],
        [403, "Refused"],
        [422, "Failed"],
    ])("%d", (status, word) => expect(outcomeWord(status)).toBe(word));
    test("a token without days has no end", () => {
        expect(expiryOf("", noon)).toBeUndefined();
        expect(expiryOf("90", noon)).toBe("2026-04-01T12:00:00.000Z");
    });
});
