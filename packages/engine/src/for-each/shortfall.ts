import { isJsonObject, type JsonObject, type JsonValue } from "@planwright/plan";
import type { StepError } from "../state/protocol.ts";

/** Failed items that are told one by one. */
const MAX_TOLD = 5;
const MAX_MESSAGE_CHARS = 200;
const MAX_KEY_CHARS = 64;

/**
 * What a list that completed did not do, told from its envelope; undefined when all of its items succeeded.
 * Told from the output alone, so that an executor that resumes after a crash, or with a list of an earlier
 * version, gives the same error.
 * @param stepId - of the list
 * @param output - the envelope
 */
export function shortfallOf(stepId: string, output: JsonValue | undefined): StepError | undefined {
  if (!isJsonObject(output) || !isJsonObject(output["summary"]) || !Array.isArray(output["results"]))
    return undefined;
  const { ok, error } = output["summary"];
  if (typeof error !== "number" || error === 0) return undefined;
  const wrong = output["results"].filter(isJsonObject).filter(({ status }) => status !== "ok");
  const told = wrong.slice(0, MAX_TOLD).map(toldItem);
  const more = wrong.length > MAX_TOLD ? [`and ${wrong.length - MAX_TOLD} more`] : [];
  return {
    code: "ITEMS_FAILED",
    message: `${error} of ${output["results"].length} items of step '${stepId}' failed: ${[...told, ...more].join("; ")}`,
    retryable: false,
    data: { stepId, ok: ok ?? null, error },
  };
}

function toldItem({ index, key, status, error }: JsonObject): string {
  const position = typeof index === "number" ? index.toString() : "?";
  const name = typeof key === "string" && key !== position ? ` (${key.slice(0, MAX_KEY_CHARS)})` : "";
  const message = isJsonObject(error) && typeof error["message"] === "string" ? error["message"] : "failed";
  const doubt = status === "in_doubt" ? " is in doubt" : "";
  return `item ${position}${name}${doubt}: ${message.slice(0, MAX_MESSAGE_CHARS)}`;
}
