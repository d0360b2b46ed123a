import {
  type Effect,
  emptyRequest,
  type FoldedPlan,
  fold,
  outlineOf,
  type StepRun,
  stepRuns,
} from "@planwright/engine";
import { type PlanId, PlanSchema, planGraph, type StepStatus } from "@planwright/plan";
import { expect, test } from "vitest";
import { newPlan, newRequest } from "../records/new-documents.ts";
import type { UnitResolution } from "../records/plan-document.ts";
import { carriedVersion, isUnsettled, rerunSteps, unitsInDoubt, withApprovals } from "./carry-over.ts";
import type { EarlierVersion } from "./earlier-calls.ts";
import { versionTurn } from "./version-turn.ts";

const EPOCH = new Date(0);
const OLD_ID: PlanId = "plan_1700000000_aaaaaaaaaaaaaaaaaaaa";
const LAST_ID: PlanId = "plan_1700000002_cccccccccccccccccccc";
const NEW_ID: PlanId = "plan_1700000001_bbbbbbbbbbbbbbbbbbbb";

/**
 * a -> b -> c, and d alone; c is a list that does not read b; e is a list that reads b, f reads c, and g
 * reads f.
 */
const plan = PlanSchema.parse({
  steps: [
    { id: "a", tool: "t" },
    { id: "b", tool: "t", dependsOn: ["a"] },
    { id: "c", dependsOn: ["b"], forEach: { items: [1, 2], do: { tool: "t" } } },
    { id: "d", tool: "t" },
    { id: "e", forEach: { items: "<<b.list>>", do: { tool: "t" } } },
    { id: "f", tool: "t", arguments: { of: "<<c.summary>>" } },
    { id: "g", tool: "t", arguments: { of: "<<f>>" } },
    { id: "after", tool: "t", dependsOn: ["c"] },
  ],
});
const { dependents } = planGraph(plan);

function documentOf(planId: PlanId) {
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

/** Units with these statuses; a key may be that of an item. */
function unitsOf(statuses: Record<string, StepStatus>): StepRun[] {
  const steps = stepRuns({ outline: outlineOf(documentOf(OLD_ID)), plan: undefined });
  return Object.entries(statuses).flatMap(([key, status]) => {
    const item = /\[(\d+)\]$/.exec(key)?.[1];
    const step = steps.find(({ stepId }) => stepId === key.replace(/\[.*/, ""));
    const own = { key, item: item === undefined ? null : Number(item), status, finishedAt: EPOCH };
    return step ? [{ ...step, ...own, output: `output of ${key}` }] : [];
  });
}

/** The version that had these units when it ended. */
function versionOf(units: readonly StepRun[], resolutions: UnitResolution[] = []): EarlierVersion {
  const { _id, requestId, tenant, createdAt } = documentOf(units[0]?.planId ?? OLD_ID);
  const folded: FoldedPlan = {
    planId: _id,
    version: 1,
    status: "FAILED",
    waitReason: null,
    dueAt: null,
    accepted: [],
    units: new Map(units.map(({ item, ...unit }) => [unit.key, { ...unit, ...(item !== null && { item }) }])),
    approvals: [],
    resolutions,
    controlSeq: 0,
    cancelAskedAt: null,
    pauseAskedAt: null,
    outputs: null,
    error: null,
    waits: [],
    queuedAt: EPOCH,
    startedAt: EPOCH,
    finishedAt: EPOCH,
    endedSeq: 1,
  };
  return { _id, requestId, tenant, createdAt, plan, pins: undefined, folded };
}

function rerunOf(units: StepRun[], from: string | null, resolutions: UnitResolution[] = []) {
  return rerunSteps({ plan, before: versionOf(units, resolutions), units, dependents, from });
}

/** The units with which the rerun of this version begins: those that follow from its entry. */
function rerunUnits(
  units: StepRun[],
  {
    planId = NEW_ID,
    from = null,
    resolutions = [],
  }: { planId?: PlanId; from?: string | null; resolutions?: UnitResolution[] } = {},
): StepRun[] {
  const before = versionOf(units, resolutions);
  const content = carriedVersion({ plan, versions: [before] }, rerunOf(units, from, resolutions));
  const { document, events } = versionTurn({ ...documentOf(planId), version: 2 }, content, { epoch: 1 });
  const { requestId, tenant } = document;
  const state = { ...emptyRequest(requestId), plans: new Map([[before._id, before.folded]]) };
  const entry = {
    requestId,
    seq: 1,
    at: EPOCH,
    planId,
    by: { kind: "api" as const, id: "t" },
    events,
    tenant,
    writeId: "w",
  };
  return stepRuns({ outline: outlineOf(document), plan: fold(state, [entry]).plans.get(planId) });
}

const ALL = { a: "COMPLETED", b: "COMPLETED", c: "COMPLETED", d: "COMPLETED", e: "COMPLETED" } as const;
const AFTER_LIST = { f: "COMPLETED", g: "COMPLETED", after: "COMPLETED" } as const;
const SKIPPED = { f: "SKIPPED", g: "SKIPPED", after: "SKIPPED" } as const;
const FAILED_LIST = { ...ALL, ...SKIPPED, c: "FAILED" } as const;
const DONE = { ...ALL, ...AFTER_LIST } as const;
const ITEMS = { "c[0]": "COMPLETED", "c[1]": "FAILED" } as const;

const FAILED_ITEM = { "c[0]": "COMPLETED", "c[1]": "FAILED" } as const;

test.each<[string, Record<string, StepStatus>, string | null, string[]]>([
  ["a failed list and skipped steps", FAILED_LIST, null, ["after", "c", "f", "g"]],
  ["a skipped or cancelled step", { ...DONE, b: "SKIPPED", d: "CANCELLED" }, null, ["b", "d"]],
  ["a named step and its dependents", DONE, "b", ["after", "b", "c", "e", "f", "g"]],
  ["a named step, and another step that did not complete", { ...DONE, d: "FAILED" }, "g", ["d", "g"]],
  [
    "a list that completed with a failed item, and the steps that used it",
    { ...DONE, ...FAILED_ITEM },
    null,
    ["c", "f", "g"],
  ],
  [
    "a list that completed with a failed item, the steps that used it, and the named step",
    { ...DONE, ...FAILED_ITEM },
    "d",
    ["c", "d", "f", "g"],
  ],
])("%s runs again", (_, statuses, from, expected) => {
  const { again } = rerunOf(unitsOf(statuses), from);
  expect([...again].toSorted()).toEqual(expected);
});

test("a list with an item that an operator settled after the end of the plan runs again, once", () => {
  const settled = unitsOf({ ...DONE, "c[0]": "COMPLETED", "c[1]": "COMPLETED" }).map((unit) =>
    unit.key === "c[1]" ? { ...unit, resolvedBy: { by: "o", resolution: "completed" as const } } : unit,
  );
  const againOf = (units: StepRun[]) => [...rerunOf(units, null).again];
  expect(againOf(settled).toSorted()).toEqual(["c", "f", "g"]);
  expect(againOf(settled.map((unit) => ({ ...unit, carriedFrom: OLD_ID })))).toEqual([]);
});

test("a cycle of dependents ends", () => {
  const circle = new Map([
    ["a", ["b"]],
    ["b", ["a"]],
  ]);
  const units = unitsOf(DONE);
  const { again } = rerunSteps({ plan, before: versionOf(units), units, dependents: circle, from: "a" });
  expect([...again].toSorted()).toEqual(["a", "b"]);
});

function carriedOf(statuses: Record<string, StepStatus>, from: string | null) {
  return rerunUnits(unitsOf(statuses), { from });
}

test("a unit that does not run again is carried over with its output, as a unit of the new plan", () => {
  const [b] = carriedOf(FAILED_LIST, null).filter(({ key }) => key === "b");
  expect(b).toMatchObject({
    key: "b",
    planId: NEW_ID,
    status: "COMPLETED",
    output: "output of b",
    finishedAt: EPOCH,
    carriedFrom: OLD_ID,
  });
});

const ITEMS_OF_E = { "e[0]": "COMPLETED", "e[1]": "FAILED" } as const;

test.each<[string, Record<string, StepStatus>, string | null, string[]]>([
  ["the finished items of a failed list are kept", { ...FAILED_LIST, ...ITEMS }, null, ["c[0]"]],
  [
    "the finished items of a list that completed with failed items are kept",
    { ...DONE, ...ITEMS },
    null,
    ["c[0]"],
  ],
  ["only the failed items are called when the list is named", { ...DONE, ...ITEMS }, "c", ["c[0]"]],
  [
    "a list without failed items runs again completely when it is named",
    { ...DONE, "c[0]": "COMPLETED", "c[1]": "COMPLETED" },
    "c",
    [],
  ],
  ["a list after the named step runs again completely", { ...DONE, ...ITEMS }, "b", []],
  [
    "a list that reads a step that runs again keeps no items",
    { ...DONE, b: "FAILED", ...ITEMS_OF_E },
    null,
    [],
  ],
  [
    "a list that only comes after a step that runs again keeps its finished items",
    { ...DONE, b: "FAILED", ...ITEMS },
    null,
    ["c[0]"],
  ],
  [
    "the items of a finished list are carried over",
    { ...DONE, "c[0]": "COMPLETED", "c[1]": "COMPLETED" },
    "d",
    ["c[0]", "c[1]"],
  ],
])("%s", (_, statuses, from, expected) => {
  const carried = carriedOf(statuses, from);
  expect(carried.filter(({ item }) => item !== null).map(({ key }) => key)).toEqual(expected);
  expect(carried.filter(({ item }) => item === null)).toHaveLength(plan.steps.length);
});

test("a unit keeps the operator's decision over many versions", () => {
  const decided = { by: "ann", resolution: { type: "completed" as const, output: 1 }, at: new Date(0) };
  const resolutions = [
    { ...decided, key: "a", attempt: 0 },
    { ...decided, key: "b", attempt: 1 }, // for another attempt than the last
  ];
  const second = rerunUnits(unitsOf(FAILED_LIST), { resolutions });
  const third = rerunUnits(second, { planId: LAST_ID });
  for (const units of [second, third]) {
    const decisionOn = (id: string) => units.find(({ key }) => key === id)?.resolvedBy;
    expect(decisionOn("a")).toEqual({ by: "ann", resolution: "completed" });
    expect(decisionOn("b")).toBeUndefined();
  }
});

test("a unit keeps the id of the plan that executed it over many versions", () => {
  const units = unitsOf(FAILED_LIST).map((unit) => ({
    ...unit,
    carriedFrom: "plan_1600000000_cccccccccccccccccccc" as const,
  }));
  const [a] = rerunUnits(units).filter(({ key }) => key === "a");
  expect(a?.carriedFrom).toBe("plan_1600000000_cccccccccccccccccccc");
});

test("units in doubt are returned only when their step would run again", () => {
  const units = unitsOf({ a: "IN_DOUBT", b: "SKIPPED", c: "COMPLETED", "c[0]": "IN_DOUBT", d: "COMPLETED" });
  expect(unitsInDoubt(units, { again: new Set(["a", "b"]), fromScratch: new Set() })).toEqual(["a"]);
  expect(unitsInDoubt(units, { again: new Set(["c"]), fromScratch: new Set() })).toEqual(["c[0]"]);
});

test("an unanswered call keeps its first key over any number of reruns", () => {
  const attempt = {
    attempt: 1,
    attemptId: "a1",
    executor: "e1",
    startedAt: EPOCH,
    endedAt: EPOCH,
    durationMs: 1,
    error: null,
    endSeq: null,
  } as const;
  const sent = (unit: StepRun, planId: PlanId, outcome: "unknown" | "failed"): StepRun => {
    const isLost = outcome === "unknown";
    const attempts = [{ ...attempt, outcome, effect: isLost ? ("possible" as const) : ("none" as const) }];
    const known = isLost ? ({ status: "IN_DOUBT", effect: "possible" } as const) : {};
    return { ...unit, ...known, planId, effectClass: "K", argsHash: "h1", attempts };
  };
  const openOf = (planId: PlanId, units: StepRun[], resolutions: UnitResolution[] = []) =>
    new Map(rerunUnits(units, { planId, resolutions }).map((unit) => [unit.key, unit]));
  const old = unitsOf({ a: "FAILED", c: "FAILED", "c[0]": "FAILED", "c[1]": "FAILED" }).map((unit) =>
    sent(unit, OLD_ID, unit.key === "c[1]" ? "failed" : "unknown"),
  );
  const first = openOf(NEW_ID, old);
  const asSent = { planId: OLD_ID, argsHash: "h1" };
  expect(first.get("a")?.unanswered).toEqual([{ key: "a", ...asSent }]);
  expect(first.get("a")?.warnings).toEqual([
    `The call of a in ${OLD_ID} was not answered and may have acted: it is sent again under the same key, whose answer says what became of it`,
  ]);
  const settled = old.map(
    (unit): StepRun => ({ ...unit, status: "FAILED", effect: "none", mayHaveActed: false }),
  );
  expect(openOf(NEW_ID, settled).get("a")?.unanswered).toEqual([]);
  const decided = { type: "failed", error: { code: "REFUSED", message: "no", retryable: false } } as const;
  const decision: UnitResolution = { key: "a", attempt: 1, resolution: decided, by: "ann", at: EPOCH };
  expect(openOf(NEW_ID, settled, [decision]).get("a")?.unanswered).toEqual([{ key: "a", ...asSent }]);
  expect(first.get("c")?.unanswered.map(({ key }) => key)).toEqual(["c", "c[0]"]);
  const failedAgain = [...first.values()].map((unit) =>
    sent({ ...unit, status: "FAILED" }, NEW_ID, "unknown"),
  );
  expect(openOf(LAST_ID, failedAgain).get("a")?.unanswered).toEqual([{ key: "a", ...asSent }]);
});

test("a call may have acted until its answer, or an operator's decision that it failed, says that it did not", () => {
  const [unit] = unitsOf({ a: "IN_DOUBT" });
  const end = { attempt: 1, attemptId: "x", executor: "e", startedAt: EPOCH, endedAt: EPOCH, durationMs: 1 };
  const lost: StepRun = {
    ...(unit as StepRun),
    effectClass: "K",
    argsHash: "h",
    effect: "possible",
    mayHaveActed: true,
    attempts: [{ ...end, outcome: "unknown", error: null, effect: "possible", endSeq: null }],
  };
  const failed = { type: "failed", error: { code: "REFUSED", message: "no", retryable: false } } as const;
  const decision = (resolution: UnitResolution["resolution"]): UnitResolution[] => [
    { key: "a", attempt: 1, resolution, by: "ann", at: EPOCH },
  ];
  expect(isUnsettled(lost, [])).toBe(true);
  expect(isUnsettled(lost, decision({ type: "retry" }))).toBe(true);
  expect(isUnsettled({ ...lost, status: "FAILED", mayHaveActed: false }, decision(failed))).toBe(false);
  expect(isUnsettled({ ...lost, resolvedBy: { by: "ann", resolution: "retry" } }, [])).toBe(false);
});

test.each(["TOOL_RESULT_INVALID", "TOOL_RESULT_TOO_LARGE"])(
  "a call with an unusable answer (%s) has acted: it keeps its key",
  (code) => {
    const end = {
      attempt: 1,
      attemptId: "x",
      executor: "e",
      startedAt: EPOCH,
      endedAt: EPOCH,
      durationMs: 1,
    };
    const error = { code, message: "m", retryable: false };
    const units = unitsOf({ ...DONE, a: "FAILED" }).map(
      (unit): StepRun =>
        unit.key === "a"
          ? {
              ...unit,
              error,
              effectClass: "K",
              effect: "done",
              argsHash: "h",
              attempts: [{ ...end, outcome: "failed", error, effect: "done", endSeq: null }],
            }
          : unit,
    );
    const [a] = rerunUnits(units);
    expect(a?.unanswered).toEqual([{ key: "a", planId: OLD_ID, argsHash: "h" }]);
  },
);

const CALL: StepRun["attempts"][number] = {
  attempt: 1,
  attemptId: "x",
  executor: "e",
  startedAt: EPOCH,
  endedAt: EPOCH,
  durationMs: 1,
  outcome: "completed",
  error: null,
  effect: "done",
  endSeq: null,
};

test("a step that repeats a side effect only because of other results of a list needs approval", () => {
  const asked = (
    statuses: Record<string, StepStatus>,
    from: string | null,
    readOnly: boolean,
    server = {},
    { effect = "done" as Effect, accepted = [] as string[] } = {},
  ) => {
    const units = unitsOf(statuses);
    const called = units.map((unit) => ({ ...unit, attempts: [CALL], effect }));
    const tools = [{ name: "t", server: "s", ...server, annotations: { readOnlyHint: readOnly } }];
    const { implied } = rerunSteps({ plan, before: versionOf(units), units: called, dependents, from });
    return withApprovals(plan, implied, new Set(accepted), tools).steps.flatMap(({ id, approval }) =>
      approval ? [id] : [],
    );
  };
  expect(asked({ ...DONE, ...ITEMS }, null, false)).toEqual(["f", "g"]);
  expect(asked({ ...DONE, ...ITEMS }, null, true)).toEqual([]);
  expect(asked({ ...DONE, ...ITEMS }, null, true, { trusted: true })).toEqual([]);
  expect(asked({ ...DONE, ...ITEMS }, null, true, { trusted: false })).toEqual(["f", "g"]);
  expect(asked({ ...DONE, ...ITEMS, f: "FAILED", g: "SKIPPED" }, null, false)).toEqual([]);
  expect(asked({ ...DONE, ...ITEMS }, "f", false)).toEqual([]);
  expect(asked({ ...DONE, ...ITEMS }, "c", false)).toEqual([]);
  expect(asked({ ...DONE, ...ITEMS }, null, false, {}, { effect: "none" })).toEqual([]);
  expect(asked({ ...DONE, ...ITEMS }, null, false, {}, { accepted: ["f"] })).toEqual(["g"]);
});
