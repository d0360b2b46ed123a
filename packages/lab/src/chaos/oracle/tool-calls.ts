import { groupBy, isJsonObject, type JsonObject, type JsonValue } from "@planwright/plan";
import type { LoggedCall } from "@planwright/testing";

/** The part of a call that belongs to one unit; the call of a batch has one part for each item. */
export interface UnitCall {
  /** The label of the unit: {@link import("../plans/chaos-plan.ts").labelOf}. */
  label: string;
  /** The version of the plan that the key names. */
  planId: string;
  key: string | null;
  arguments: JsonObject;
  at: number;
  /** The answer for this unit; null when the call got no answer. */
  answer: "ok" | "error" | null;
}

/** Calls by the label of their unit, in order. Calls of look-up tools have no unit. Pure. */
export function callsByLabel(calls: readonly LoggedCall[]): Map<string, UnitCall[]> {
  return groupBy(calls.flatMap(unitCalls), ({ label }) => label);
}

function unitCalls(call: LoggedCall): UnitCall[] {
  const { key, at, arguments: args } = call;
  const facts = { key, at, planId: planIdOfKey(key), arguments: args };
  const { items } = args;
  if (!Array.isArray(items)) {
    const label = labelIn(args);
    const answer = call.answer === "result" ? "ok" : call.answer === "error" ? "error" : null;
    return label === undefined ? [] : [{ ...facts, label, answer }];
  }
  return items.flatMap((item, index): UnitCall[] => {
    const label = labelIn(item);
    if (label === undefined || !isJsonObject(item)) return [];
    return [{ ...facts, label, arguments: item, answer: answerTo(call, index) }];
  });
}

/** The answer of a batch for one of its items, from the envelope or the list of values. */
function answerTo({ answer, output }: LoggedCall, index: number): UnitCall["answer"] {
  if (answer !== "result" || output === null) return answer === "error" ? "error" : null;
  const list = output["results"] ?? output["values"];
  const entry = Array.isArray(list) ? list[index] : undefined;
  return isJsonObject(entry) && entry["error"] === undefined ? "ok" : "error";
}

/** The id of the plan version in an idempotency key. */
export function planIdOfKey(key: string | null): string {
  return key === null ? "no plan" : key.slice(0, key.indexOf("/"));
}

/**
 * The label in a value of the form `{value: {label}}`, such as arguments and outputs of the counting tools.
 */
export function labelIn(holder: JsonValue | undefined): string | undefined {
  const value: JsonObject[string] | undefined = isJsonObject(holder) ? holder["value"] : undefined;
  return isJsonObject(value) && typeof value["label"] === "string" ? value["label"] : undefined;
}
