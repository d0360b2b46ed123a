import type { ForEachResult, JsonValue } from "@planwright/plan";
import type { Items, Unit } from "../state/engine-state.ts";

/** The output of a forEach, always in input order: `{results: [...], summary: {ok, error}}`. Items in doubt count as errors. */
export function envelopeOf(items: Items): JsonValue {
  const results = items.units.map((unit, index) => entryOf(unit, items.keys[index] ?? String(index)));
  const ok = results.filter(({ status }) => status === "ok").length;
  const error = results.filter(({ status }) => status === "error" || status === "in_doubt").length;
  return { results: results.map((result) => ({ ...result })), summary: { ok, error } };
}

function entryOf(unit: Unit, key: string): ForEachResult {
  const index = unit.item ?? 0;
  switch (unit.status) {
    case "COMPLETED":
      return { index, key, status: "ok", data: unit.output ?? null };
    case "FAILED":
      return { index, key, status: "error", ...reasonOf(unit) };
    case "IN_DOUBT":
      return { index, key, status: "in_doubt", ...reasonOf(unit) };
    default:
      return { index, key, status: "skipped", ...reasonOf(unit) };
  }
}

function reasonOf(unit: Unit): Pick<ForEachResult, "error"> {
  return unit.error ? { error: { code: unit.error.code, message: unit.error.message } } : {};
}
