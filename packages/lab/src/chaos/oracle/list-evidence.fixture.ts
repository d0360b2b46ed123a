import { type JsonObject, type JsonValue, parsePlan } from "@planwright/plan";
import type { LoggedCall } from "@planwright/testing";
import { labelOf } from "../chaos-plan.ts";
import type { Evidence, FinalPlan, FinalStep } from "../evidence.ts";
import { carriedOver, PLAN_ID, REQUEST_ID, step, TENANT } from "./evidence.fixture.ts";
import { withJournal } from "./journal.fixture.ts";

/** The plan version that a rerun made. */
export const NEXT_ID = "plan_1700000050_abcdefghij0123456789";
const CREATED = { [PLAN_ID]: 0, [NEXT_ID]: 50_000 };

/**
 * How an item ended: `failed` was refused by its tool, `skipped` was never called, `excluded` was skipped by the
 * condition of the list.
 */
export type ItemEnd = "ok" | "failed" | "skipped" | "excluded" | "carried" | "in doubt";

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
  const plans = versions.map(planOf);
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

function planOf({ planId = PLAN_ID, items, tool, errors, minSuccess, plan }: ListVersion): FinalPlan {
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
