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
  /** Ids of calls of the same answer that must have ended before. */
  after?: readonly string[] | undefined;
  /** The same, where a name may also be a tool's (all its calls) or a field that other calls provide. */
  dependsOn?: string | readonly string[] | null | undefined;
  depends_on?: string | readonly string[] | null | undefined;
  dependencies?: string | readonly string[] | null | undefined;
  /** Names of fields that its output holds. */
  provides?: string | readonly string[] | null | undefined;
}

/** A call that no answer holds, of a tool that another call depends on (`onAbsentDependency: "insert"`). */
export interface InsertedCall {
  id: string;
  tool: string;
  arguments: JsonObject;
}

/**
 * What orders calls: `onCycle`, `onAbsentDependency`, `navigation`, `maxParallel`, `unannotated`, or a
 * `profile` of them.
 */
export type OrderingPolicy = Pick<
  PolicyInput,
  "profile" | "onCycle" | "onAbsentDependency" | "navigation" | "maxParallel" | "unannotated"
>;

/** The name of the tool of a call; undefined when it names none. */
export function toolOfCall(call: ToolCall): string | undefined {
  const names = [call.tool, call.name, call.function?.name];
  const name = names.find((one) => typeof one === "string" && one !== "");
  return typeof name === "string" ? name : undefined;
}

/** What a call says it depends on, beside `after`: ids, tools or provided fields, each once. */
export function dependenciesOfCall(call: ToolCall): string[] {
  return [...new Set([call.dependsOn, call.depends_on, call.dependencies].flatMap(namesIn))];
}

/** The fields that a call says its output holds. */
export function providedByCall(call: ToolCall): string[] {
  return namesIn(call.provides);
}

function namesIn(names: string | readonly string[] | null | undefined): string[] {
  const list = typeof names === "string" ? [names] : (names ?? []);
  return list.filter((name) => name !== "");
}
