import {
  type ForEachResult,
  type HeldJson,
  isForEachStep,
  isJsonObject,
  type JsonObject,
  JsonText,
  type JsonValue,
  type StepStatus,
  sharedUtf8,
  stringifyExactJson,
  valueOfHeld,
} from "@planwright/plan";
import type { Items, StepNode, Unit } from "../state/engine-state.ts";
import type { BatchCall, BatchResult, EndedList, ReadBatch, StepError } from "../state/protocol.ts";
import { isSkippedByCondition } from "../state/units.ts";
import { splitBatch, unwrapBatch } from "./split-batch.ts";

/** The beginning of the warning of a batch call that completed although some of its items failed. */
export const ITEMS_FAILED_WARNING = "ITEMS_FAILED: ";

/** Number of failed items that are listed. */
const MAX_LISTED = 5;
const MAX_MESSAGE_CHARS = 200;
const MAX_KEY_CHARS = 64;

/**
 * The error of a completed list with failed items, from its envelope; undefined when all items succeeded. The
 * same for a batch tool that was called directly and answered with an envelope. It depends only on the
 * output, so an executor that resumes after a crash, or that carries over a list of an earlier version, gives
 * the same error.
 * @param output - of the step; a large one is read as a value only by another thread: see {@link readsLarge}
 */
export function shortfallOf(node: StepNode, output: HeldJson | undefined): StepError | undefined {
  // A large envelope is not parsed where its items are known.
  if (output instanceof JsonText && node.forEach)
    return shortfallOfEnvelope(node.step.id, summaryOf(node.forEach));
  return output === undefined ? undefined : shortfallIn(endedListOf(node), valueOfHeld(output));
}

/** True when the shortfall of a step can only be read from a large output. */
export function readsLarge({ forEach }: StepNode, output: HeldJson | undefined): boolean {
  return output instanceof JsonText && !forEach;
}

/** What is known of a step that may be a list, besides its output. */
export function endedListOf({ step, tool: { contract, onlyReads } }: StepNode): EndedList {
  return { stepId: step.id, isList: isForEachStep(step), batch: contract.batch, onlyReads };
}

/** {@link shortfallOf} for an output that is a value. */
export function shortfallIn(list: EndedList, output: JsonValue): StepError | undefined {
  if (list.isList) return shortfallOfEnvelope(list.stepId, output);
  const results = unwrapBatch(list, output);
  return results && shortfallOfResults(list.stepId, results);
}

/** What the answer of a batch tool says about its items; undefined when it has no list of their results. */
export function readBatch(call: BatchCall, output: JsonValue): ReadBatch | undefined {
  const { stepId, count, isSplit } = call;
  const results =
    isSplit && count !== undefined ? splitBatch(call, output, count) : unwrapBatch(call, output, count);
  if (!results) return undefined;
  const hasSuccess = results.some(({ status }) => status === "COMPLETED");
  if (count !== undefined) return { count: results.length, hasSuccess, results };
  return {
    count: results.length,
    hasSuccess,
    results: [],
    shortfall: shortfallOfResults(stepId, results),
  };
}

function shortfallOfResults(stepId: string, results: readonly BatchResult[]): StepError | undefined {
  const entries = results.map((result, index) => ({ index, ...entryOf(result) }));
  const ok = results.filter(({ status }) => status === "COMPLETED").length;
  return shortfallOfEnvelope(stepId, { results: entries, summary: { ok, error: results.length - ok } });
}

function entryOf(result: BatchResult): JsonObject {
  if (result.status === "COMPLETED") return { status: "ok" };
  const status = result.status === "IN_DOUBT" ? "in_doubt" : "error";
  return { status, error: { message: result.error.message } };
}

function shortfallOfEnvelope(stepId: string, output: JsonValue | undefined): StepError | undefined {
  if (!isJsonObject(output) || !isJsonObject(output["summary"]) || !Array.isArray(output["results"]))
    return undefined;
  const { ok, error } = output["summary"];
  if (typeof error !== "number" || error === 0) return undefined;
  const unsuccessful = output["results"].filter(isJsonObject).filter(({ status }) => status !== "ok");
  const listed = unsuccessful.slice(0, MAX_LISTED).map(itemText);
  const more = unsuccessful.length > MAX_LISTED ? [`and ${unsuccessful.length - MAX_LISTED} more`] : [];
  return {
    code: "ITEMS_FAILED",
    message: `${error} of ${output["results"].length} items of step '${stepId}' failed: ${[...listed, ...more].join("; ")}`,
    retryable: false,
    data: { stepId, ok: ok ?? null, error },
  };
}

function itemText({ index, key, status, error }: JsonObject): string {
  const position = typeof index === "number" ? index.toString() : "?";
  const name = typeof key === "string" && key !== position ? ` (${key.slice(0, MAX_KEY_CHARS)})` : "";
  const message = isJsonObject(error) && typeof error["message"] === "string" ? error["message"] : "failed";
  const doubt = status === "in_doubt" ? " is in doubt" : "";
  return `item ${position}${name}${doubt}: ${message.slice(0, MAX_MESSAGE_CHARS)}`;
}

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
  // Few and long pieces of text: a list has up to 10,000 items, and all of them are put together in one turn.
  const parts: JsonText["content"][] = [];
  let text = '{"results":[';
  for (const [index, { output = null }] of units.entries()) {
    const result = stringifyExactJson(results[index] ?? {});
    if (index > 0) text += ",";
    if (results[index]?.status !== "ok") {
      text += result;
      continue;
    }
    text += `${result.slice(0, -1)},"data":`;
    const data = output instanceof JsonText ? output.content : stringifyExactJson(output);
    if (typeof data === "string") text += data;
    else {
      parts.push(text, data);
      text = "";
    }
    text += "}";
  }
  text += `],"summary":${stringifyExactJson(summary)}}`;
  if (parts.length === 0) return new JsonText(text, Buffer.byteLength(text));
  // Bytes are not decoded for it: with some the result is bytes too.
  parts.push(text);
  const sizeBytes = parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0);
  return new JsonText(sharedUtf8(parts, sizeBytes), sizeBytes);
}

/** The output of a forEach without the data of its items. */
function summaryOf(items: Items) {
  const units = entriesOf(items);
  const results = units.map((unit) => entryOfUnit(unit, items.keys[unit.item ?? 0] ?? String(unit.item)));
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

function entryOfUnit(unit: Unit, key: string): Entry {
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
