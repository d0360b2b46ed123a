import {
  type HeldJson,
  isForEachStep,
  isJsonObject,
  type JsonObject,
  JsonText,
  type JsonValue,
  valueOfHeld,
} from "@planwright/plan";
import type { StepNode } from "../state/engine-state.ts";
import type { StepError } from "../state/protocol.ts";
import type { BatchResult } from "./batch-result.ts";
import { summaryOf } from "./envelope.ts";
import { unwrapBatch } from "./split-batch.ts";

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
 * @param output - of the step
 */
export function shortfallOf(node: StepNode, output: HeldJson | undefined): StepError | undefined {
  const { id } = node.step;
  if (isForEachStep(node.step)) {
    // A large envelope is not parsed where its items are known.
    if (output instanceof JsonText && node.forEach) return shortfallOfEnvelope(id, summaryOf(node.forEach));
    return shortfallOfEnvelope(id, output === undefined ? output : valueOfHeld(output));
  }
  const isBatch = output !== undefined && node.tool.contract.batch !== undefined;
  const results = isBatch ? unwrapBatch(node, valueOfHeld(output)) : undefined;
  if (!results) return undefined;
  const entries = results.map((result, index) => ({ index, ...entryOf(result) }));
  const ok = results.filter(({ status }) => status === "COMPLETED").length;
  return shortfallOfEnvelope(id, { results: entries, summary: { ok, error: results.length - ok } });
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
