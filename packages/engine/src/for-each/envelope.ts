import {
  type ForEachResult,
  type HeldJson,
  type JsonObject,
  JsonText,
  type StepStatus,
  stringifyExactJson,
  valueOfHeld,
} from "@planwright/plan";
import type { Items, Unit } from "../state/engine-state.ts";
import { isSkippedByCondition } from "../state/units.ts";

/**
 * The output of a forEach, always in input order: `{results: [...], summary: {ok, error}}`. Items in doubt
 * count as errors. Items that the condition skipped are no entries, so that steps which read the results of all
 * items find one for each: they are counted (`skipped`). Large outputs of items are put in as texts.
 */
export function envelopeOf(items: Items): HeldJson {
  const { results, summary } = summaryOf(items);
  const units = entriesOf(items);
  if (!units.some(({ output }) => output instanceof JsonText)) {
    for (const [index, { output = null }] of units.entries()) {
      const result = results[index];
      if (result?.status === "ok") result["data"] = valueOfHeld(output);
    }
    return { results, summary };
  }
  const parts: string[] = [];
  let sizeBytes = 0;
  const add = (text: string, bytes = Buffer.byteLength(text)) => {
    parts.push(text);
    sizeBytes += bytes;
  };
  for (const [index, { output = null }] of units.entries()) {
    const result = stringifyExactJson(results[index] ?? {});
    const isOk = results[index]?.status === "ok";
    add(`${index === 0 ? '{"results":[' : ","}${isOk ? `${result.slice(0, -1)},"data":` : result}`);
    if (!isOk) continue;
    if (output instanceof JsonText) add(output.text, output.sizeBytes);
    else add(stringifyExactJson(output));
    add("}");
  }
  add(`],"summary":${stringifyExactJson(summary)}}`);
  return new JsonText(parts.join(""), sizeBytes);
}

/** The output of a forEach without the data of its items. */
export function summaryOf(items: Items) {
  const units = entriesOf(items);
  const results = units.map((unit) => entryOf(unit, items.keys[unit.item ?? 0] ?? String(unit.item)));
  const ok = results.filter(({ status }) => status === "ok").length;
  const error = results.filter(({ status }) => status === "error" || status === "in_doubt").length;
  return {
    results,
    summary: { ok, error, ...(items.hasCondition && { skipped: items.units.length - units.length }) },
  };
}

function entriesOf({ units, notCalled }: Items): readonly Unit[] {
  return notCalled.size === 0 ? units : units.filter((unit) => !isSkippedByCondition(unit));
}

type Entry = JsonObject & { status: ForEachResult["status"] };

function entryOf(unit: Unit, key: string): Entry {
  const status = ENTRY_STATUS[unit.status];
  return { index: unit.item ?? 0, key, status, ...(status === "ok" ? {} : reasonOf(unit)) };
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
