import {
  callTimeout,
  MAX_STEP_TIMEOUT_MS,
  type ToolContract,
  type ToolDescriptor,
  toolContract,
} from "@planwright/plan";
import type { PlanFact, StepFact } from "./facts.ts";

/**
 * The limit in a tool's contract of parallel calls, or of calls in a time, as text; undefined without a
 * limit.
 */
export function limitOf(tools: readonly ToolDescriptor[], tool: string): string | undefined {
  const contract = contractOf(tools, tool);
  if (!contract) return undefined;
  const { mode, maxConcurrency, barrier, rateLimit, scope } = contract;
  const where = scope === "global" || scope === "tenant" ? " over all plans" : " in one plan";
  const parts: string[] = [];
  if (rateLimit) parts.push(`${rateLimit.max} calls in ${rateLimit.perMs} ms`);
  if (barrier === true) parts.push("no other step during its calls");
  else if (mode === "sequential-only" || maxConcurrency === 1) parts.push(`one call at once${where}`);
  else if (maxConcurrency !== undefined) parts.push(`${maxConcurrency} calls at once${where}`);
  return parts.length > 0 ? parts.join(" and ") : undefined;
}

/** When something is given up, and the limit that ends it first. */
export interface GivenUp {
  at: Date;
  by: "timeout" | "unreachableMs" | "deadline";
}

/**
 * Timeout of one call of a step, in milliseconds, by the rule of the executors. Executors that allow less than
 * {@link MAX_STEP_TIMEOUT_MS} give up earlier.
 */
export function timeoutOf(
  { document }: Pick<PlanFact, "document">,
  { id, tool }: Pick<StepFact, "id" | "tool">,
  tools: readonly ToolDescriptor[],
): number | undefined {
  const step = document?.steps.find((one) => one.id === id);
  const policyMs = document?.policy?.stepTimeoutMs;
  const contractMs = contractOf(tools, tool)?.timeoutMs;
  if (policyMs === undefined) return contractMs;
  const facts = { stepMs: step?.timeoutMs, policyMs, contractMs, maxStepMs: MAX_STEP_TIMEOUT_MS };
  return callTimeout(facts).timeoutMs;
}

/** When the call of a step that began at `since` is given up: after its timeout, or at the plan's deadline. */
export function callEndsAt(
  plan: Pick<PlanFact, "document" | "deadlineAt">,
  {
    step,
    since,
    tools,
  }: { step: Pick<StepFact, "id" | "tool">; since: Date; tools: readonly ToolDescriptor[] },
): GivenUp | undefined {
  const timeoutMs = timeoutOf(plan, step, tools);
  return earliest(plan, since, timeoutMs, "timeout");
}

/**
 * The time until which a plan waits for a tool server that has been unreachable since `since`, at the latest its
 * deadline; undefined if the plan has no such limit.
 */
export function waitsUntil(
  plan: Pick<PlanFact, "document" | "deadlineAt">,
  since: Date,
): GivenUp | undefined {
  return earliest(plan, since, plan.document?.policy?.unreachableMs, "unreachableMs");
}

function earliest(
  { deadlineAt }: Pick<PlanFact, "deadlineAt">,
  since: Date,
  limitMs: number | undefined,
  by: GivenUp["by"],
): GivenUp | undefined {
  const own = limitMs === undefined ? undefined : { at: new Date(since.getTime() + limitMs), by };
  if (deadlineAt && (!own || deadlineAt < own.at)) return { at: deadlineAt, by: "deadline" };
  return own;
}

function contractOf(tools: readonly ToolDescriptor[], tool: string): ToolContract | undefined {
  const found = tools.find(({ name }) => name === tool);
  return found && toolContract(found).contract;
}
