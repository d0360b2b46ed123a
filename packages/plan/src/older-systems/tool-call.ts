import type { JsonObject } from "../json/json.ts";
import type { PolicyInput } from "../policy/policy.ts";

/**
 * One call of a model's answer; further fields are kept. It names its tool as `tool`, as `name`, or inside
 * `function`.
 */
export interface ToolCall {
  id: string;
  tool?: string | undefined;
  name?: string | undefined;
  function?: { readonly name?: unknown } | undefined;
  /** Ids of calls of the same answer that must end before. */
  after?: readonly string[] | undefined;
  /** Like `after`, but a name may also be a tool (all its calls) or a field that other calls provide. */
  dependsOn?: string | readonly string[] | null | undefined;
  depends_on?: string | readonly string[] | null | undefined;
  dependencies?: string | readonly string[] | null | undefined;
  /** Names of fields in its output. */
  provides?: string | readonly string[] | null | undefined;
}

/**
 * A call that is not in the answer, of a tool that another call depends on (`onAbsentDependency: "insert"`).
 */
export interface InsertedCall {
  id: string;
  tool: string;
  arguments: JsonObject;
}

/**
 * Options for ordering calls: `onCycle`, `onAbsentDependency`, `navigation`, `maxParallel`, `unannotated`, or
 * a `profile` of them.
 */
export type OrderingPolicy = Pick<
  PolicyInput,
  "profile" | "onCycle" | "onAbsentDependency" | "navigation" | "maxParallel" | "unannotated"
>;

/** The name of a call's tool; undefined when it has none. */
export function toolOfCall(call: ToolCall): string | undefined {
  const names = [call.tool, call.name, call.function?.name];
  const name = names.find((one) => typeof one === "string" && one !== "");
  return typeof name === "string" ? name : undefined;
}

/** The declared dependencies of a call, in addition to `after`: ids, tools or provided fields, each once. */
export function dependenciesOfCall(call: ToolCall): string[] {
  return [...new Set([call.dependsOn, call.depends_on, call.dependencies].flatMap(namesIn))];
}

/** The fields that a call declares for its output. */
export function providedByCall(call: ToolCall): string[] {
  return namesIn(call.provides);
}

function namesIn(names: string | readonly string[] | null | undefined): string[] {
  const list = typeof names === "string" ? [names] : (names ?? []);
  return list.filter((name) => name !== "");
}
