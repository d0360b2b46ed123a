/**
 * Rewrites what models and older systems write into the one form. Only the shape: what a step means is not judged here.
 *
 * | from | form |
 * |---|---|
 * | tool chaining | `{tools: [{name, parameters, dependsOn: null | "tool" | [..]}], executionOrder}` |
 * | tool planning | `{steps: [{id, tool, arguments: "<JSON text>"}], output_steps}` |
 * | ordered calls | `{id, tool, after: [callId]}` |
 * | plain | a list of calls |
 */
import type { Diagnostic } from "../diagnostic.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../json.ts";

/** A plan-like object in canonical field names, not validated, with what had to be noted. */
export interface CanonicalDraft {
  draft: JsonObject;
  diagnostics: Diagnostic[];
}

const PLAN_FIELDS = new Set(["formatVersion", "steps", "outputs", "policy", "limits"]);
const CALL_FIELDS = new Set([
  "id",
  "tool",
  "arguments",
  "dependsOn",
  "when",
  "forEach",
  "retry",
  "timeoutMs",
  "onError",
  "approval",
]);
/** Other words for the same field, by the canonical one; the first that is present counts. */
const SYNONYMS: { readonly [field: string]: readonly string[] } = {
  id: ["callId", "step_id", "stepId"],
  tool: ["name", "toolName", "tool_name"],
  arguments: ["parameters", "args", "input", "params"],
  dependsOn: ["after", "depends_on"],
};

/** The canonical draft of any accepted form; null when the value is none of them. */
export function toCanonical(input: JsonValue): CanonicalDraft | null {
  const diagnostics: Diagnostic[] = [];
  const calls = callsOf(input);
  if (!calls) return null;
  const ids = stepIds(calls);
  const byTool = stepsOfTools(calls, ids);
  const steps = calls.map((call, index) => toStep(call, index, ids, byTool, diagnostics));
  const plan = isJsonObject(input) ? input : {};
  const outputs = plan["outputs"] ?? plan["output_steps"];
  const extra = Object.keys(plan).filter((key) => !PLAN_FIELDS.has(key) && !KNOWN_PLAN_FIELDS.has(key));
  const draft: JsonObject = {
    steps,
    ...pick(plan, ["formatVersion", "policy", "limits"]),
    ...(outputs === undefined || outputs === null ? {} : { outputs }),
    ...pick(plan, extra),
  };
  applyExecutionOrder(plan["executionOrder"], steps, ids, byTool, diagnostics);
  return { draft, diagnostics };
}

const KNOWN_PLAN_FIELDS = new Set(["tools", "calls", "output_steps", "executionOrder"]);

function callsOf(input: JsonValue): JsonValue[] | null {
  if (Array.isArray(input)) return input;
  if (!isJsonObject(input)) return null;
  for (const field of ["steps", "tools", "calls"]) {
    const list = input[field];
    if (Array.isArray(list)) return list;
  }
  return null;
}

function pick(from: JsonObject, fields: readonly string[]): JsonObject {
  return Object.fromEntries(
    fields.flatMap((field) => (Object.hasOwn(from, field) ? [[field, from[field] ?? null]] : [])),
  );
}

function fieldOf(call: JsonObject, field: string): JsonValue | undefined {
  for (const name of [field, ...(SYNONYMS[field] ?? [])]) {
    // A forEach may stand beside `name`; the canonical name always wins.
    if (Object.hasOwn(call, name)) return call[name];
  }
  return undefined;
}

/** Given ids, else the tool's name, numbered from the second call of the same tool on. */
function stepIds(calls: readonly JsonValue[]): string[] {
  const taken = new Set<string>();
  for (const call of calls) {
    const id = isJsonObject(call) ? fieldOf(call, "id") : undefined;
    if (typeof id === "string") taken.add(id);
  }
  return calls.map((call, index) => {
    const id = isJsonObject(call) ? fieldOf(call, "id") : undefined;
    if (typeof id === "string") return id;
    if (typeof id === "number") return `s${id}`;
    const tool = isJsonObject(call) ? fieldOf(call, "tool") : undefined;
    const base = typeof tool === "string" ? idFromTool(tool) : `step${index + 1}`;
    let candidate = base;
    for (let number = 2; taken.has(candidate); number += 1) candidate = `${base}${number}`;
    taken.add(candidate);
    return candidate;
  });
}

function idFromTool(tool: string): string {
  const own = tool.slice(tool.lastIndexOf("/") + 1).replace(/[^A-Za-z0-9_-]/g, "_");
  return (/^[A-Za-z]/.test(own) ? own : `s_${own}`).slice(0, 60);
}

function stepsOfTools(calls: readonly JsonValue[], ids: readonly string[]): Map<string, string[]> {
  const byTool = new Map<string, string[]>();
  for (const [index, call] of calls.entries()) {
    const tool = isJsonObject(call) ? fieldOf(call, "tool") : undefined;
    const id = ids[index];
    if (typeof tool !== "string" || id === undefined) continue;
    byTool.set(tool, [...(byTool.get(tool) ?? []), id]);
  }
  return byTool;
}

function toStep(
  call: JsonValue,
  index: number,
  ids: readonly string[],
  byTool: ReadonlyMap<string, readonly string[]>,
  diagnostics: Diagnostic[],
): JsonValue {
  if (!isJsonObject(call)) return call;
  const id = ids[index] ?? `step${index + 1}`;
  const known = new Set([...CALL_FIELDS, ...Object.values(SYNONYMS).flat(), "type"]);
  const extra = Object.keys(call).filter((key) => !known.has(key));
  const tool = fieldOf(call, "tool");
  const args = fieldOf(call, "arguments");
  const dependsOn = fieldOf(call, "dependsOn");
  return {
    id,
    ...(tool === undefined || Object.hasOwn(call, "forEach") ? {} : { tool }),
    ...(args === undefined ? {} : { arguments: readArguments(args, id, index, diagnostics) }),
    dependsOn: readDependsOn(dependsOn, id, ids, byTool, index, diagnostics),
    ...pick(call, ["when", "forEach", "retry", "timeoutMs", "onError", "approval"]),
    ...pick(call, extra),
  };
}

/** Arguments as an object, or as JSON text of one. */
function readArguments(args: JsonValue, stepId: string, index: number, diagnostics: Diagnostic[]): JsonValue {
  if (args === null) return {};
  if (typeof args !== "string") return args;
  if (args.trim() === "") return {};
  try {
    const parsed: JsonValue = JSON.parse(args);
    if (isJsonObject(parsed)) return parsed;
  } catch {
    // Reported below, with the same words as text that is not an object.
  }
  diagnostics.push({
    code: "ARGUMENTS_NOT_JSON",
    severity: "error",
    stepId,
    path: `steps[${index}].arguments`,
    message: `step ${stepId}: the arguments are a text that is not a JSON object; write them as an object`,
  });
  return {};
}

/** Step ids; a tool name stands for its step while exactly one uses it. */
function readDependsOn(
  value: JsonValue | undefined,
  stepId: string,
  ids: readonly string[],
  byTool: ReadonlyMap<string, readonly string[]>,
  index: number,
  diagnostics: Diagnostic[],
): JsonValue {
  if (value === undefined || value === null) return [];
  const names = Array.isArray(value) ? value : [value];
  const found = names.flatMap((name): JsonValue[] => {
    if (typeof name === "number") return [`s${name}`];
    if (typeof name !== "string" || ids.includes(name)) return [name];
    const steps = byTool.get(name) ?? [];
    if (steps.length > 1) {
      diagnostics.push({
        code: "DEPENDENCY_AMBIGUOUS",
        severity: "error",
        stepId,
        path: `steps[${index}].dependsOn`,
        message: `step ${stepId} depends on the tool ${name}, which the steps ${steps.join(", ")} use; name one of them`,
      });
      return [];
    }
    return steps.length === 1 ? [...steps] : [name];
  });
  return [...new Set(found)];
}

/** An explicit order is kept where the dependencies allow it; one that contradicts them is reported. */
function applyExecutionOrder(
  order: JsonValue | undefined,
  steps: readonly JsonValue[],
  ids: readonly string[],
  byTool: ReadonlyMap<string, readonly string[]>,
  diagnostics: Diagnostic[],
): void {
  if (!Array.isArray(order)) return;
  const positions = new Map<string, number>();
  for (const [position, name] of order.entries()) {
    if (typeof name !== "string") continue;
    for (const id of ids.includes(name) ? [name] : (byTool.get(name) ?? [])) {
      if (!positions.has(id)) positions.set(id, position);
    }
  }
  for (const [index, step] of steps.entries()) {
    if (!isJsonObject(step) || !Array.isArray(step["dependsOn"])) continue;
    const own = positions.get(String(step["id"]));
    for (const dependency of step["dependsOn"]) {
      const other = positions.get(String(dependency));
      if (own === undefined || other === undefined || other <= own) continue;
      diagnostics.push({
        code: "ORDER_CONTRADICTS",
        severity: "warning",
        stepId: String(step["id"]),
        path: `steps[${index}].dependsOn`,
        message: `executionOrder puts ${String(step["id"])} before ${String(dependency)}, on which it depends; the dependency counts`,
      });
    }
  }
}
