import { PlanSchema, planGraph, type StepStatus } from "@planwright/plan";
import { expect, test } from "vitest";
import type { StepDocument } from "../documents.ts";
import { newPlan, newRequest, newSteps } from "../new-documents.ts";
import { carriedUnits, stepsToRerun, unitsInDoubt } from "./carry-over.ts";

const EPOCH = new Date(0);
const OLD_ID = "plan_1700000000_aaaaaaaaaaaaaaaaaaaa";
const NEW_ID = "plan_1700000001_bbbbbbbbbbbbbbbbbbbb";

/** a -> b -> c, and d by itself; c is a list. */
const plan = PlanSchema.parse({
  steps: [
    { id: "a", tool: "t" },
    { id: "b", tool: "t", dependsOn: ["a"] },
    { id: "c", dependsOn: ["b"], forEach: { items: [1, 2], do: { tool: "t" } } },
    { id: "d", tool: "t" },
  ],
});
const { dependents } = planGraph(plan);

function documentOf(planId: string) {
  const request = newRequest({
    requestId: "req_1700000000_aaaaaaaaaaaaaaaaaaaa",
    planId,
    tenant: "t1",
    source: "plan",
    query: null,
    autoExecute: true,
    now: EPOCH,
  });
  const origin = { kind: "submitted", model: null } as const;
  return newPlan({ request, plan, raw: null, origin, diagnostics: [], status: "QUEUED", now: EPOCH });
}

/** The units as they ended, with items of "c" where they are named. */
function unitsOf(statuses: Record<string, StepStatus>): StepDocument[] {
  const steps = newSteps(documentOf(OLD_ID), plan);
  return Object.entries(statuses).flatMap(([key, status]) => {
    const item = /\[(\d+)\]$/.exec(key)?.[1];
    const step = steps.find(({ stepId }) => stepId === key.replace(/\[.*/, ""));
    const own = { key, item: item === undefined ? null : Number(item), status, finishedAt: EPOCH };
    return step ? [{ ...step, ...own, output: `output of ${key}` }] : [];
  });
}

const FAILED_LIST = { a: "COMPLETED", b: "COMPLETED", c: "FAILED", d: "COMPLETED" } as const;
const ITEMS = { "c[0]": "COMPLETED", "c[1]": "FAILED" } as const;

test.each<[string, Record<string, StepStatus>, string | null, string[]]>([
  ["what failed", FAILED_LIST, null, ["c"]],
  [
    "what was skipped or cancelled",
    { a: "COMPLETED", b: "SKIPPED", c: "CANCELLED", d: "COMPLETED" },
    null,
    ["b", "c"],
  ],
  [
    "a step and what depends on it",
    { a: "COMPLETED", b: "COMPLETED", c: "COMPLETED", d: "COMPLETED" },
    "b",
    ["b", "c"],
  ],
  [
    "a step, and what did not complete elsewhere",
    { ...FAILED_LIST, c: "COMPLETED", d: "FAILED" },
    "c",
    ["c", "d"],
  ],
])("%s runs again", (_, statuses, from, expected) => {
  const again = stepsToRerun({ plan, units: unitsOf(statuses), dependents, from });
  expect([...again].toSorted()).toEqual(expected);
});

test("a cycle of dependents ends", () => {
  const circle = new Map([
    ["a", ["b"]],
    ["b", ["a"]],
  ]);
  const again = stepsToRerun({ plan, units: unitsOf(FAILED_LIST), dependents: circle, from: "a" });
  expect([...again].toSorted()).toEqual(["a", "b", "c"]);
});

function carriedOf(statuses: Record<string, StepStatus>, from: string | null) {
  const facts = { plan, units: unitsOf(statuses), dependents, from };
  return carriedUnits(documentOf(NEW_ID), facts, stepsToRerun(facts));
}

test("what does not run again is carried over with its output, as the unit of the new plan", () => {
  const [b] = carriedOf(FAILED_LIST, null).filter(({ key }) => key === "b");
  expect(b).toMatchObject({
    _id: `${NEW_ID}/b`,
    planId: NEW_ID,
    status: "COMPLETED",
    output: "output of b",
    finishedAt: EPOCH,
    carriedFrom: OLD_ID,
  });
});

test.each<[string, Record<string, StepStatus>, string | null, string[]]>([
  ["the finished items of a failed list are kept", { ...FAILED_LIST, ...ITEMS }, null, ["c[0]"]],
  ["a list that is named runs again as a whole", { ...FAILED_LIST, ...ITEMS }, "c", []],
  ["a list behind what runs again gets its items anew", { ...FAILED_LIST, b: "FAILED", ...ITEMS }, null, []],
  [
    "the items of a finished list are carried over",
    { ...FAILED_LIST, c: "COMPLETED", ...ITEMS },
    "d",
    ["c[0]", "c[1]"],
  ],
])("%s", (_, statuses, from, expected) => {
  const carried = carriedOf(statuses, from);
  expect(carried.filter(({ item }) => item !== null).map(({ key }) => key)).toEqual(expected);
  expect(carried.filter(({ item }) => item === null)).toHaveLength(plan.steps.length);
});

test("a unit remembers the plan that executed it over many versions", () => {
  const units = unitsOf(FAILED_LIST).map((unit) => ({
    ...unit,
    carriedFrom: "plan_1600000000_cccccccccccccccccccc",
  }));
  const facts = { plan, units, dependents, from: null };
  const [a] = carriedUnits(documentOf(NEW_ID), facts, new Set(["c"])).filter(({ key }) => key === "a");
  expect(a?.carriedFrom).toBe("plan_1600000000_cccccccccccccccccccc");
});

test("units in doubt are named when their step would run again, and only then", () => {
  const units = unitsOf({ a: "IN_DOUBT", b: "SKIPPED", c: "COMPLETED", "c[0]": "IN_DOUBT", d: "COMPLETED" });
  expect(unitsInDoubt(units, new Set(["a", "b"]))).toEqual(["a"]);
  expect(unitsInDoubt(units, new Set(["c"]))).toEqual(["c[0]"]);
});

test("a call without an answer keeps the key under which it was sent first, over any number of reruns", () => {
  const attempt = {
    attempt: 1,
    attemptId: "a1",
    executor: "e1",
    startedAt: EPOCH,
    endedAt: EPOCH,
    durationMs: 1,
    error: null,
  };
  const sent = (unit: StepDocument, planId: string, outcome: "unknown" | "failed"): StepDocument => {
    const attempts = [{ ...attempt, outcome }];
    return { ...unit, planId, effectClass: "K", argsHash: "h1", attempts };
  };
  const again = new Set(["a", "c"]);
  const facts = { plan, dependents, from: null };
  const openOf = (planId: string, units: StepDocument[]) =>
    new Map(carriedUnits(documentOf(planId), { ...facts, units }, again).map((unit) => [unit.key, unit]));
  const old = unitsOf({ a: "FAILED", c: "FAILED", "c[0]": "FAILED", "c[1]": "FAILED" }).map((unit) =>
    sent(unit, OLD_ID, unit.key === "c[1]" ? "failed" : "unknown"),
  );
  const first = openOf(NEW_ID, old);
  const asSent = { planId: OLD_ID, argsHash: "h1" };
  expect(first.get("a")?.unansweredCalls).toEqual([{ key: "a", ...asSent }]);
  expect(first.get("c")?.unansweredCalls?.map(({ key }) => key)).toEqual(["c", "c[0]"]);
  const failedAgain = [...first.values()].map((unit) =>
    sent({ ...unit, status: "FAILED" }, NEW_ID, "unknown"),
  );
  expect(openOf("plan_1700000002_cccccccccccccccccccc", failedAgain).get("a")?.unansweredCalls).toEqual([
    { key: "a", ...asSent },
  ]);
});
