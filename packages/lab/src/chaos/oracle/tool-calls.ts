import { isJsonObject, type JsonObject, type JsonValue } from "@planwright/plan";
import type { LoggedCall } from "@planwright/testing";
import { groupBy } from "../evidence/group-by.ts";

/** The part of one unit in a call that a tool received: a batch has one for each item. */
export interface UnitCall {
  /** Names the unit: {@link import("../plans/chaos-plan.ts").labelOf}. */
  label: string;
  /** The version of the plan that the key names. */
  planId: string;
  key: string | null;
  at: number;
  /** The answer for this unit; null without an answer. */
  answer: "ok" | "error" | null;
}

/** Calls by the label of their unit, in order. Lookups have no unit. Pure. */
export function callsByLabel(calls: readonly LoggedCall[]): Map<string, UnitCall[]> {
  return groupBy(calls.flatMap(unitCalls), ({ label }) => label);
}

function unitCalls(call: LoggedCall): UnitCall[] {
  const { key, at, arguments: args } = call;
  const facts = { key, at, planId: planIdOfKey(key) };
  const { items } = args;
  if (!Array.isArray(items)) {
    const label = labelIn(args);
    const answer = call.answer === "result" ? "ok" : call.answer === "error" ? "error" : null;
    return label === undefined ? [] : [{ ...facts, label, answer }];
  }
  return items.flatMap((item, place): UnitCall[] => {
    const label = labelIn(item);
    return label === undefined ? [] : [{ ...facts, label, answer: answerTo(call, place) }];
  });
}

/** The answer of a batch for one item: an entry of the envelope, or an element of the list. */
function answerTo({ answer, output }: LoggedCall, place: number): UnitCall["answer"] {
  if (answer !== "result" || output === null) return answer === "error" ? "error" : null;
  const list = output["results"] ?? output["values"];
  const entry = Array.isArray(list) ? list[place] : undefined;
  return isJsonObject(entry) && entry["error"] === undefined ? "ok" : "error";
}

/** The version of the plan that a key names. */
export function planIdOfKey(key: string | null): string {
  return key === null ? "no plan" : key.slice(0, key.indexOf("/"));
}

/** The label in a value of the form `{value: {label}}`: arguments and outputs of the counting tools. */
export function labelIn(holder: JsonValue | undefined): string | undefined {
  const value: JsonObject[string] | undefined = isJsonObject(holder) ? holder["value"] : undefined;
  return isJsonObject(value) && typeof value["label"] === "string" ? value["label"] : undefined;
}
