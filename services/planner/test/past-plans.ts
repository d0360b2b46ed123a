import { type StepRun, toStepRun } from "@planwright/engine";
import {
  type JsonObject,
  type JsonValue,
  type Plan,
  PlanSchema,
  type StepStatus,
  type ToolDescriptor,
} from "@planwright/plan";
import { newPlan, newRequest, type PlanRecord } from "@planwright/store";
import { type PastPlan, toPastPlan } from "../src/drafts/check-replan.ts";

const EPOCH = new Date(0);
const request = newRequest({
  requestId: "req_1700000000_abcdefghij0123456789",
  planId: "plan_1700000000_abcdefghij0123456789",
  tenant: "default",
  source: "query",
  query: "do it",
  autoExecute: true,
  now: EPOCH,
});

const tool = (name: string, readOnly: boolean): ToolDescriptor => ({
  name,
  trusted: true,
  annotations: { readOnlyHint: readOnly },
  inputSchema: { type: "object", additionalProperties: true },
});

/** Two tools that read, two that write. */
export const TOOLS: ToolDescriptor[] = [
  tool("find", true),
  tool("list", true),
  tool("send", false),
  tool("create", false),
];

/** How a unit ended. */
export interface UnitEnd {
  status: StepStatus;
  output?: JsonValue;
  /** The sent arguments. */
  sent?: JsonObject;
  /** Outcome of its last attempt. Default: the outcome for the status. */
  outcome?: "unknown" | "aborted";
  /** Default "U". */
  effectClass?: "K" | "U";
}

/**
 * The record of a plan whose units, by key, ended in these ways. Units that are not named completed with
 * their key as output.
 */
export function recordOf(
  steps: unknown[],
  ends: Record<string, UnitEnd>,
  more: Partial<Pick<Plan, "outputs">> & { policy?: Partial<Plan["policy"]>; earlier?: Plan[] } = {},
): PlanRecord {
  const { earlier = [], ...rest } = more;
  const plan = PlanSchema.parse({ steps, ...rest });
  const document = newPlan({
    request,
    plan,
    raw: null,
    origin: { kind: "model", model: "test" },
    diagnostics: [],
    status: "QUEUED",
    now: EPOCH,
  });
  const keys = new Set([...plan.steps.map(({ id }) => id), ...Object.keys(ends)]);
  const units = [...keys].map((key): StepRun => {
    const stepId = key.replace(/\[.*/, "");
    const position = plan.steps.findIndex(({ id }) => id === stepId);
    const step = plan.steps[position];
    const name = step && "tool" in step ? step.tool : (step?.forEach.do.tool ?? "");
    const item = /\[(\d+)\]$/.exec(key)?.[1];
    const end = ends[key] ?? { status: "COMPLETED" as const };
    const unit = toStepRun(
      { ...document, planId: document._id },
      {
        step: { id: stepId, tool: name, hasCauses: false },
        position,
        item: item === undefined ? null : Number(item),
        key,
        unit: undefined,
      },
    );
    const sent = end.sent ? { sizeBytes: 0, value: end.sent } : null;
    return { ...unit, status: end.status, arguments: sent, ...endedAs(end) };
  });
  const outputs = new Map(
    units.flatMap(({ key, status }): [string, JsonValue][] =>
      status === "COMPLETED" ? [[key, ends[key]?.output ?? { value: key }]] : [],
    ),
  );
  return { plan: { ...document, plan }, units, outputs, earlier };
}

/** {@link recordOf}, prepared for a replan. */
export const pastOf = (...input: Parameters<typeof recordOf>): PastPlan => toPastPlan(recordOf(...input));

function endedAs({ status, outcome, effectClass = "U" }: UnitEnd): Partial<StepRun> {
  if (status === "SKIPPED") return { error: { code: "DEPENDENCY_FAILED", message: "m", retryable: false } };
  const usual = status === "COMPLETED" ? "completed" : "failed";
  const attempt = {
    attempt: 1,
    attemptId: "x",
    executor: "e",
    startedAt: EPOCH,
    endedAt: EPOCH,
    durationMs: 1,
    outcome: outcome ?? usual,
    error: null,
    effect: status === "COMPLETED" ? "done" : "none",
    endSeq: null,
  } as const;
  const error =
    status === "FAILED" ? { code: "TOOL_FAILED", message: "no such person", retryable: false } : null;
  return { attempts: [attempt], effectClass, error };
}
