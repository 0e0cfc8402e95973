import { expect, test } from "vitest";
import { planStep, stamp } from "../src/store/plan_step";

const words = (error: unknown): string => (error as Error).message;
const refuse = (message: string) => () => Promise.reject(new Error(message));

test("nothing can be carried out before there is a plan", async () => {
    const done: string[] = [];
    const step = planStep(
        async () => "plan",
        async (plan) => done.push(plan),
        words,
    );
    expect([step.ready(), await step.go(), done]).toEqual([false, false, []]);

    await step.look();
    expect([step.plan.value, step.ready(), await step.go(), done]).toEqual(["plan", true, true, ["plan"]]);
});

test("a yes counts once, however often it is said", async () => {
    let done = 0;
    const step = planStep(
        async () => "plan",
        async () => (done += 1),
        words,
    );
    await step.look();

    expect(await Promise.all([step.go(), step.go()])).toEqual([true, false]);
    expect([await step.go(), step.ready(), done]).toEqual([false, false, 1]);
});

test("a plan that nobody could make is told, and leaves nothing to carry out", async () => {
    const step = planStep(refuse("the backup is gone"), refuse("never asked"), words);
    await step.look();

    expect([step.plan.value, step.problem.value, await step.go()]).toEqual([null, "the backup is gone", false]);
});

test("what could not be carried out is told and may be tried again", async () => {
    let answers = [refuse("the server is away"), async () => undefined];
    const step = planStep(
        async () => "plan",
        () => answers.shift()!(),
        words,
    );
    await step.look();

    expect([await step.go(), step.problem.value, step.ready()]).toEqual([false, "the server is away", true]);
    expect(await step.go()).toBe(true);
});

test("a stamp is a moment in UTC without signs", () =>
    expect(stamp(new Date("2026-03-10T12:34:56.789Z"))).toBe("20260310123456"));
