import { type Plan, type PlanStatus, parsePlan, type StepStatus } from "@planwright/plan";
import type { LedgerEntry } from "@planwright/testing";
import { labelOf } from "../chaos-plan.ts";
import type { Evidence, FinalPlan, FinalStep, PlanChange } from "../evidence.ts";
import { withJournal } from "./journal.fixture.ts";

export const PLAN_ID = "plan_1700000000_abcdefghij0123456789";
export const REQUEST_ID = "req_1700000000_abcdefghij0123456789";
/** The tenant of every entry here. */
export const TENANT = "default";
export const OWNER = "host:101:aaaaaaaa";
export const STALE_OWNER = "host:102:bbbbbbbb";

/** A plan of step `a` and then step `b`, which uses the output of `a`. The arguments are their tools. */
export function planOf(first = "keyed_effect", second = "keyed_effect"): Plan {
  const parsed = parsePlan([
    { id: "a", tool: first, arguments: {} },
    { id: "b", tool: second, arguments: {}, dependsOn: ["a"] },
  ]);
  if (!parsed.ok) throw new TypeError(JSON.stringify(parsed.diagnostics));
  return parsed.plan;
}

/** An effect in the ledger; by default number 1 of step `a`. */
export function effect(entry: Partial<LedgerEntry> & { step?: string; from?: number } = {}): LedgerEntry {
  const { step = "a", from, ...rest } = entry;
  const value = { label: labelOf(0, step), from: from === undefined ? {} : { a: from } };
  return {
    tool: "keyed_effect",
    key: `${PLAN_ID}/${step}`,
    meta: {},
    arguments: { value },
    argsHash: `arguments of ${step}`,
    effect: 1,
    at: 0,
    ...rest,
  };
}

/** The last state of a step. The output of a COMPLETED step is the effect with this number. */
export function step(
  key: string,
  status: StepStatus,
  effectNumber?: number,
  tool = "keyed_effect",
): FinalStep {
  const output =
    status === "COMPLETED" ? { tool, effect: effectNumber, value: { label: labelOf(0, key) } } : null;
  const item = /\[(\d+)\]$/.exec(key)?.[1];
  return {
    _id: `${PLAN_ID}/${key}`,
    planId: PLAN_ID,
    key,
    stepId: key.replace(/\[\d+\]$/, ""),
    item: item === undefined ? null : Number(item),
    tool,
    status,
    output,
    error: null,
    effect: status === "COMPLETED" ? "done" : null,
    finishedAt: null,
    carriedFrom: null,
    attempts: [],
  };
}

/** A step that was carried over from a version. */
export const carriedOver = (from: string): Pick<FinalStep, "carriedFrom"> => ({ carriedFrom: from });

/** One write each; the writes are one second apart. */
export function changesOf(...writes: (Partial<PlanChange> & { id: string })[]): PlanChange[] {
  return writes.map((write, index) => ({
    at: index * 1_000,
    collection: write.id.includes("/") ? "steps" : write.id.startsWith("plan") ? "plans" : "requests",
    type: "update",
    fields: Object.keys(write),
    ...write,
  }));
}

/** The history of a correct plan. */
export const GOOD_HISTORY = changesOf(
  { id: REQUEST_ID, type: "insert", status: "EXECUTING" },
  { id: PLAN_ID, type: "insert", status: "QUEUED", epoch: 0 },
  { id: `${PLAN_ID}/a`, type: "insert", status: "PENDING", epoch: 1 },
  { id: `${PLAN_ID}/b`, type: "insert", status: "PENDING", epoch: 1 },
  { id: PLAN_ID, status: "RUNNING", epoch: 1, owner: OWNER },
  { id: `${PLAN_ID}/a`, status: "RUNNING", writer: OWNER },
  { id: `${PLAN_ID}/a`, status: "COMPLETED", writer: OWNER },
  { id: `${PLAN_ID}/b`, status: "RUNNING", writer: OWNER },
  { id: `${PLAN_ID}/b`, status: "COMPLETED", writer: OWNER },
  { id: PLAN_ID, status: "COMPLETED" },
  { id: REQUEST_ID, status: "COMPLETED" },
);

/** A correct run of one plan, with changes to it. By default its journal is made from its plans and steps. */
export function evidence(
  changes: Partial<Evidence> & { planStatus?: PlanStatus; plan?: Partial<FinalPlan> } = {},
): Evidence {
  const { planStatus = "COMPLETED", plan, ...rest } = changes;
  const found: Omit<Evidence, "journal"> = {
    accepted: [{ index: 0, tenant: TENANT, requestId: REQUEST_ID, planId: PLAN_ID }],
    requests: [
      { _id: REQUEST_ID, tenant: TENANT, planId: PLAN_ID, source: "plan", status: "COMPLETED", error: null },
    ],
    plans: [
      {
        _id: PLAN_ID,
        requestId: REQUEST_ID,
        tenant: TENANT,
        version: 1,
        status: planStatus,
        waitReason: null,
        plan: planOf(),
        error: null,
        createdAt: new Date(0),
        deadlineAt: new Date(60_000),
        finishedAt: new Date(10_000),
        counts: null,
        ...plan,
      },
    ],
    steps: [step("a", "COMPLETED", 1), step("b", "COMPLETED", 2)],
    changes: GOOD_HISTORY,
    ledger: [effect(), effect({ step: "b", effect: 2, from: 1 })],
    calls: [],
    asked: [],
    controls: [],
    readings: [],
    seen: [],
    ...rest,
  };
  return { ...withJournal(found), ...rest };
}
