import { isDeepStrictEqual } from "node:util";
import type { JournalEvent } from "@planwright/engine";
import {
  calledIn,
  groupBy,
  isCarried,
  isTerminalPlanStatus,
  type JsonObject,
  type JsonValue,
  JsonValueSchema,
  type Plan,
  type PlanStatus,
  parsePlan,
  type StepStatus,
} from "@planwright/plan";
import type { JournalDocument } from "@planwright/store";
import type { LedgerEntry, LoggedCall } from "@planwright/testing";
import { labelOf } from "../chaos-plan.ts";
import type { Evidence, FinalPlan, FinalStep, PlanChange } from "../evidence.ts";

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
const carriedOver = (from: string): Pick<FinalStep, "carriedFrom"> => ({ carriedFrom: from });

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

/** The plan version that a rerun made. */
export const NEXT_ID = "plan_1700000050_abcdefghij0123456789";
const CREATED = { [PLAN_ID]: 0, [NEXT_ID]: 50_000 };

/**
 * How an item ended: `failed` was refused by its tool, `skipped` was never called, `excluded` was skipped by the
 * condition of the list.
 */
type ItemEnd = "ok" | "failed" | "skipped" | "excluded" | "carried" | "in doubt";

/**
 * One version of a plan. Its step `each` is a list of these items; its step `reader` reads how many of them
 * succeeded.
 */
export interface ListVersion {
  planId?: typeof PLAN_ID | typeof NEXT_ID;
  items: readonly ItemEnd[];
  tool?: "item_keyed" | "item_read" | "batch_keyed";
  errors?: "stop" | "collect";
  minSuccess?: number;
  /** Default: the status that the rules of lists give. */
  list?: "COMPLETED" | "FAILED";
  plan?: FinalPlan["status"];
}

/** The evidence of a request with these versions, correct except for `changes`. */
export function listEvidence(versions: readonly ListVersion[], changes: Partial<Evidence> = {}): Evidence {
  const plans = versions.map(listPlanOf);
  const last = plans.at(-1);
  const found: Omit<Evidence, "journal"> = {
    accepted: [{ index: 0, tenant: TENANT, requestId: REQUEST_ID, planId: PLAN_ID }],
    requests: [
      {
        _id: REQUEST_ID,
        tenant: TENANT,
        planId: last?._id ?? PLAN_ID,
        source: "plan",
        status: requestStatus(last?.status),
        error: null,
      },
    ],
    plans,
    steps: versions.flatMap(unitsOf),
    changes: [],
    ledger: versions.flatMap((version) => {
      const planId = version.planId ?? PLAN_ID;
      return (version.tool ?? "item_keyed") === "item_read"
        ? []
        : version.items.flatMap((end, item) => (end === "ok" ? [effectOf(planId, item, version.tool)] : []));
    }),
    calls: versions.flatMap((version) =>
      version.items.flatMap((end, item) =>
        end === "ok" || end === "failed"
          ? [callOf({ planId: version.planId ?? PLAN_ID, item, answer: end === "ok" ? "result" : "error" })]
          : [],
      ),
    ),
    asked:
      versions.length > 1
        ? [
            {
              requestId: REQUEST_ID,
              planId: PLAN_ID,
              kind: "rerun",
              from: null,
              acceptRepeat: [],
              storedAs: null,
            },
          ]
        : [],
    controls: [],
    readings: [],
    seen: [],
    ...changes,
  };
  return { ...withJournal(found), ...changes };
}

/** A call of an item in the tool's log. */
export function callOf(
  call: Partial<LoggedCall> & { planId?: keyof typeof CREATED; item: number },
): LoggedCall {
  const { planId = PLAN_ID, item, ...rest } = call;
  const at = CREATED[planId] + 1_000;
  return {
    tool: "item_keyed",
    key: `${planId}/each[${item}]`,
    arguments: { value: { label: labelOf(0, `each[${item}]`) } },
    at,
    answer: "result",
    endedAt: at,
    output: null,
    ...rest,
  };
}

/** The effect of an item. */
export function effectOf(
  planId: keyof typeof CREATED,
  item: number,
  tool = "item_keyed",
): Evidence["ledger"][number] {
  return {
    tool,
    key: `${planId}/each[${item}]`,
    meta: {},
    arguments: { value: { label: labelOf(0, `each[${item}]`) } },
    argsHash: `arguments of ${item}`,
    effect: numberOf(planId, item),
    at: 0,
  };
}

/** Each version has different effects; an item that was carried over has the effect of the first version. */
const numberOf = (planId: keyof typeof CREATED, item: number): number =>
  item + (planId === NEXT_ID ? 100 : 1);

function listPlanOf({ planId = PLAN_ID, items, tool, errors, minSuccess, plan }: ListVersion): FinalPlan {
  const excluded = excludedOf(items);
  const each = {
    id: "each",
    forEach: {
      items: items.map((_, index) => index),
      ...(excluded.length > 0 && { when: { not: { in: ["<<index>>", excluded] } } }),
      ...(errors && { errors }),
      ...(minSuccess !== undefined && { minSuccess }),
      do: { tool: tool ?? "item_keyed", arguments: {} },
    },
  };
  const reader = {
    id: "reader",
    tool: "read_value",
    arguments: { value: { of: "each", ok: "<<each.summary.ok>>" } },
  };
  const parsed = parsePlan([each, reader]);
  if (!parsed.ok) throw new TypeError(JSON.stringify(parsed.diagnostics));
  return {
    _id: planId,
    requestId: REQUEST_ID,
    tenant: TENANT,
    version: planId === NEXT_ID ? 2 : 1,
    status:
      plan ??
      (items.every((end) => end === "ok" || end === "carried" || end === "excluded")
        ? "COMPLETED"
        : "PARTIAL"),
    waitReason: null,
    plan: parsed.plan,
    error: null,
    createdAt: new Date(CREATED[planId]),
    deadlineAt: null,
    finishedAt: new Date(CREATED[planId] + 10_000),
    counts: null,
  };
}

function unitsOf(version: ListVersion): FinalStep[] {
  const { planId = PLAN_ID, items, tool = "item_keyed", list = "COMPLETED" } = version;
  const ok = items.filter((end) => end === "ok" || end === "carried").length;
  const skipped = excludedOf(items).length;
  const results = items.flatMap((end, index): JsonObject[] => {
    const isOk = end === "ok" || end === "carried";
    if (end === "excluded") return [];
    return [
      {
        index,
        key: String(index),
        ...(isOk ? { status: "ok", data: outputOf(version, index) } : ERROR),
        ...(end === "in doubt" && { status: "in_doubt" }),
      },
    ];
  });
  const summary = { ok, error: results.length - ok, ...(skipped > 0 && { skipped }) };
  const envelope = { results, summary };
  const isCompleted = list === "COMPLETED";
  return [
    unit(planId, "each", tool, list, isCompleted ? envelope : null),
    ...items.map((end, index): FinalStep => {
      const isOk = end === "ok" || end === "carried";
      const status = isOk ? "COMPLETED" : UNFINISHED[end];
      const outcome = end === "in doubt" ? "unknown" : "completed";
      const at = new Date(CREATED[planId] + 2_000);
      return {
        ...unit(planId, `each[${index}]`, tool, status, isOk ? outputOf(version, index) : null),
        finishedAt: at,
        ...(end === "carried" && carriedOver(PLAN_ID)),
        attempts:
          end === "skipped" || end === "excluded"
            ? []
            : [{ executor: "one", startedAt: at, endedAt: at, outcome }],
      };
    }),
    isCompleted
      ? unit(planId, "reader", "read_value", "COMPLETED", { value: { of: "each", ok } })
      : unit(planId, "reader", "read_value", "SKIPPED", null),
  ];
}

const excludedOf = (items: readonly ItemEnd[]): number[] =>
  items.flatMap((end, index) => (end === "excluded" ? [index] : []));

const UNFINISHED = {
  failed: "FAILED",
  skipped: "SKIPPED",
  excluded: "SKIPPED",
  "in doubt": "IN_DOUBT",
} as const;
const ERROR = { status: "error", error: { code: "TOOL_FAILED", message: "no" } };

function outputOf({ planId = PLAN_ID, items, tool = "item_keyed" }: ListVersion, item: number): JsonObject {
  const value = { label: labelOf(0, `each[${item}]`) };
  if (tool === "item_read") return { tool, value };
  return { tool, effect: numberOf(items[item] === "carried" ? PLAN_ID : planId, item), value };
}

function unit(
  planId: string,
  key: string,
  tool: string,
  status: FinalStep["status"],
  output: JsonValue,
): FinalStep {
  return { ...step(key, status, undefined, tool), _id: `${planId}/${key}`, planId, output };
}

function requestStatus(plan: FinalPlan["status"] | undefined): "COMPLETED" | "PARTIAL" | "FAILED" {
  return plan === "COMPLETED" || plan === "PARTIAL" ? plan : "FAILED";
}

/** The executor of every plan here. */
export const WORKER = "host:101:aaaaaaaa";

type Documents = Pick<Evidence, "plans" | "steps">;

/** The evidence with the journals that its plans and steps would have. */
function withJournal(evidence: Omit<Evidence, "journal">): Evidence {
  return { ...evidence, journal: journalsOf(evidence) };
}

/**
 * Journals that lead to these documents: one entry takes the lease, one follows for each step and item, and
 * one ends the plan.
 */
export function journalsOf({ plans, steps }: Documents): JournalDocument[] {
  const byRequest = groupBy(plans, ({ requestId }) => requestId);
  return [...byRequest].flatMap(([requestId, versions]) =>
    versions
      .toSorted((one, other) => one.version - other.version)
      .flatMap((plan) => turnsOf(plan, steps))
      .map((turn, index) => entryOf({ requestId, seq: index + 1, ...turn })),
  );
}

/** An entry of a worker; by default its epoch is 1. */
export function entryOf(
  entry: Pick<JournalDocument, "requestId" | "planId" | "seq" | "events"> & Partial<JournalDocument>,
): JournalDocument {
  const { requestId, seq } = entry;
  return {
    _id: `${requestId}/${String(seq).padStart(8, "0")}`,
    tenant: "default",
    by: { kind: "executor", id: WORKER },
    at: new Date(seq * 1_000),
    writeId: `write ${seq}`,
    ...entry,
  };
}

type Turn = Pick<JournalDocument, "planId" | "events"> & Partial<JournalDocument>;

const BY_API: Pick<JournalDocument, "by"> = { by: { kind: "api", id: "api" } };

function turnsOf(plan: FinalPlan, steps: readonly FinalStep[]): Turn[] {
  const { _id: planId, version, status } = plan;
  const units = steps.filter((unit) => unit.planId === planId);
  const carried = units.filter(isCarried).map(({ key }) => key);
  const moved = units.flatMap((unit) => movedTo(unit, steps));
  const stored: JournalEvent = {
    type: "plan.stored",
    planId,
    version,
    isValid: true,
    carried,
    settled: [],
    unanswered: [],
    ...(moved.length > 0 && { moved }),
  };
  const begin: Turn[] = version > 1 ? [{ planId, ...BY_API, events: [stored] }] : [];
  if (status === "READY" || status === "QUEUED" || status === "INVALID") return begin;
  const lease: JournalEvent = { type: "lease.taken", worker: WORKER, epoch: version, from: null };
  const lists = groupBy(
    units.filter(({ item }) => item !== null),
    ({ stepId }) => stepId,
  );
  const expanded = [...lists].map(
    ([stepId, { length }]): JournalEvent => ({ type: "items.expanded", stepId, count: length }),
  );
  const own = units.filter((unit) => !isCarried(unit)).map(eventsOf);
  const turns = [[lease, ...expanded], ...own, endOf(plan)].filter((events) => events.length > 0);
  return [...begin, ...turns.map((events) => ({ planId, epoch: version, events }))];
}

/** Where the results of a step come from, when the version before has no step with its id. */
function movedTo(unit: FinalStep, steps: readonly FinalStep[]) {
  const { planId, stepId, key, output } = unit;
  if (!isCarried(unit)) return [];
  const origin = calledIn(planId, unit);
  const ids = [...new Set(steps.map((step) => step.planId))];
  const before = ids[ids.indexOf(planId) - 1];
  const isThere = steps.some((step) => step.planId === before && step.key === key);
  const source = steps.find((step) => step.planId === origin && isDeepStrictEqual(step.output, output));
  return source && !isThere ? [{ stepId, planId: source.planId, from: source.stepId }] : [];
}

function endOf({ status }: FinalPlan): JournalEvent[] {
  if (status === "WAITING") return [{ type: "lease.released", status, waitReason: "in doubt", dueAt: null }];
  if (!isTerminalPlanStatus(status) || status === "INVALID") return [];
  return [{ type: "plan.ended", status, outputs: null, error: null }];
}

function eventsOf(unit: FinalStep): JournalEvent[] {
  const { key, stepId, item, status, attempts, tool } = unit;
  const calls = attempts.flatMap(({ startedAt: at, endedAt }, index): JournalEvent[] => {
    const call = { attemptId: `${key} ${index + 1}`, units: [key] };
    const args = { argsHash: "", arguments: { sizeBytes: 2 } };
    const facts = { stepId, tool, effectClass: "K", mayAct: true, ...args, at } as const;
    const started: JournalEvent = { type: "attempt.started", attempt: index + 1, ...call, ...facts };
    const end = { outcome: "completed", error: null, durationMs: 1 } as const;
    return endedAt === null ? [started] : [started, { type: "attempt.ended", ...call, ...end, at: endedAt }];
  });
  if (status === "PENDING") return calls;
  const changed: JournalEvent = {
    type: "step.changed",
    key,
    stepId,
    ...(item !== null && { item }),
    status,
    ...(status === "COMPLETED" && { output: JsonValueSchema.parse(unit.output) }),
  };
  return [...calls, changed];
}
