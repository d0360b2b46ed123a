import { isJsonObject, type JsonObject, type JsonValue } from "@planwright/plan";
import type { StepError } from "../state/protocol.ts";

/** Result of one item of a batch. */
export type BatchResult =
  | { status: "COMPLETED"; output: JsonValue }
  | { status: "FAILED" | "IN_DOUBT"; error: StepError };

/**
 * The error of one element in a batch answer.
 * @param fallback - message for an element without one
 */
export function errorOfItem(element: JsonObject, fallback: string): StepError {
  const { error } = element;
  const details = isJsonObject(error) ? error : element;
  const code = typeof details["code"] === "string" ? details["code"] : "TOOL_FAILED";
  const text = typeof error === "string" && error !== "" ? error : details["message"];
  return { code, message: typeof text === "string" ? text : fallback, retryable: false };
}
