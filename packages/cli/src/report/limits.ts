import { isJsonObject, type JsonValue } from "@planwright/plan";
import type { ToolSnapshot } from "../api/operations.ts";

/** What a tool's contract allows at once or in a time, in words; undefined when it is not bounded. */
export function limitOf(tools: readonly ToolSnapshot[], tool: string): string | undefined {
  const contract = contractOf(tools, tool);
  if (!contract) return undefined;
  const { mode, maxConcurrency, barrier, rateLimit, scope } = contract;
  const where = scope === "global" || scope === "tenant" ? " over all plans" : " in one plan";
  const parts: string[] = [];
  if (isJsonObject(rateLimit))
    parts.push(`${number(rateLimit["max"])} calls in ${number(rateLimit["perMs"])} ms`);
  if (barrier === true) parts.push("nothing beside its calls");
  else if (mode === "sequential-only" || maxConcurrency === 1) parts.push(`one call at once${where}`);
  else if (typeof maxConcurrency === "number") parts.push(`${maxConcurrency} calls at once${where}`);
  return parts.length > 0 ? parts.join(" and ") : undefined;
}

/** Longest that one call of a step may take, in milliseconds: the smallest of what step, plan and contract say. */
export function timeoutOf(
  document: JsonValue,
  stepId: string,
  tools: readonly ToolSnapshot[],
  tool: string,
): number | undefined {
  const plan = isJsonObject(document) ? document : {};
  const steps = Array.isArray(plan["steps"]) ? plan["steps"] : [];
  const step = steps.find((one) => isJsonObject(one) && one["id"] === stepId);
  const policy = isJsonObject(plan["policy"]) ? plan["policy"] : {};
  const known = [
    isJsonObject(step) ? step["timeoutMs"] : undefined,
    policy["stepTimeoutMs"],
    contractOf(tools, tool)?.["timeoutMs"],
  ].filter((value) => typeof value === "number");
  return known.length > 0 ? Math.min(...known) : undefined;
}

/** Until when a plan waits for a tool server that cannot be reached since then, as RFC 3339 text; undefined where it does not say. */
export function waitsUntil(document: JsonValue, since: string): string | undefined {
  const policy = isJsonObject(document) && isJsonObject(document["policy"]) ? document["policy"] : {};
  const { unreachableMs } = policy;
  return typeof unreachableMs === "number"
    ? new Date(Date.parse(since) + unreachableMs).toISOString()
    : undefined;
}

function contractOf(tools: readonly ToolSnapshot[], tool: string) {
  const contract = tools.find(({ name }) => name === tool)?.contract ?? null;
  return isJsonObject(contract) ? contract : undefined;
}

const number = (value: JsonValue | undefined) => (typeof value === "number" ? value : "?");
