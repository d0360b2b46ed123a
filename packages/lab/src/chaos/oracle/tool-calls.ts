import { isJsonObject, type JsonObject, type JsonValue } from "@planwright/plan";
import type { LoggedCall } from "@planwright/testing";
import { groupBy } from "../evidence/group-by.ts";

/** One unit's part in a call that a tool saw: of a batch there is one for each item. */
export interface UnitCall {
  /** Names the unit: {@link import("../plans/chaos-plan.ts").labelOf}. */
  label: string;
  /** The version of the plan that the key names. */
  planId: string;
  key: string | null;
  at: number;
  /** What the tool said of this unit; null when it said nothing. */
  answer: "ok" | "error" | null;
}

/** The calls by the label of the unit that they serve, in order. Look-ups serve none. Pure. */
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

/** What a batch was answered for one item: an entry of the envelope, or an element of the list. */
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

/** The label in anything of the form `{value: {label}}`: arguments and outputs of the counting tools. */
export function labelIn(holder: JsonValue | undefined): string | undefined {
  const value: JsonObject[string] | undefined = isJsonObject(holder) ? holder["value"] : undefined;
  return isJsonObject(value) && typeof value["label"] === "string" ? value["label"] : undefined;
}
