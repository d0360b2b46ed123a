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

/**
 * Timeout of one call of a step, in milliseconds, by the rule of the executors; undefined without a document.
 * Executors that allow less than {@link MAX_STEP_TIMEOUT_MS} give up earlier.
 */
export function timeoutOf(
  { document }: Pick<PlanFact, "document">,
  { id, tool }: Pick<StepFact, "id" | "tool">,
  tools: readonly ToolDescriptor[],
): number | undefined {
  if (!document?.policy) return undefined;
  return callTimeout({
    stepMs: document.steps.find((one) => one.id === id)?.timeoutMs,
    policyMs: document.policy.stepTimeoutMs,
    contractMs: contractOf(tools, tool)?.timeoutMs,
    maxStepMs: MAX_STEP_TIMEOUT_MS,
  }).timeoutMs;
}

/**
 * The time until which a plan waits for a tool server that has been unreachable since `since`; undefined if
 * the plan has no such limit.
 */
export function waitsUntil({ document }: Pick<PlanFact, "document">, since: Date): Date | undefined {
  const unreachableMs = document?.policy?.unreachableMs;
  return unreachableMs === undefined ? undefined : new Date(since.getTime() + unreachableMs);
}

function contractOf(tools: readonly ToolDescriptor[], tool: string): ToolContract | undefined {
  const found = tools.find(({ name }) => name === tool);
  return found && toolContract(found).contract;
}
