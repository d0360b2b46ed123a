import type { ForEachResult, JsonValue, StepStatus } from "@planwright/plan";
import type { Items, Unit } from "../state/engine-state.ts";

/**
 * The output of a forEach, always in input order: `{results: [...], summary: {ok, error}}`. Items in doubt
 * count as errors.
 */
export function envelopeOf(items: Items): JsonValue {
  const results = items.units.map((unit, index) => entryOf(unit, items.keys[index] ?? String(index)));
  const ok = results.filter(({ status }) => status === "ok").length;
  const error = results.filter(({ status }) => status === "error" || status === "in_doubt").length;
  return { results: results.map((result) => ({ ...result })), summary: { ok, error } };
}

function entryOf(unit: Unit, key: string): ForEachResult {
  const index = unit.item ?? 0;
  const status = ENTRY_STATUS[unit.status];
  return status === "ok"
    ? { index, key, status, data: unit.output ?? null }
    : { index, key, status, ...reasonOf(unit) };
}

/** Status of an item in the output of its list; an item that has not ended when the list ends was skipped. */
const ENTRY_STATUS: Readonly<Record<StepStatus, ForEachResult["status"]>> = {
  PENDING: "skipped",
  WAITING_APPROVAL: "skipped",
  RUNNING: "skipped",
  RETRYING: "skipped",
  COMPLETED: "ok",
  FAILED: "error",
  SKIPPED: "skipped",
  IN_DOUBT: "in_doubt",
  CANCELLED: "skipped",
};

function reasonOf(unit: Unit): Pick<ForEachResult, "error"> {
  return unit.error ? { error: { code: unit.error.code, message: unit.error.message } } : {};
}
