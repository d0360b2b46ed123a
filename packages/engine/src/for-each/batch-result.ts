import { isJsonObject, type JsonObject, type JsonValue } from "@planwright/plan";
import type { StepError } from "../state/protocol.ts";

/** Result of one item of a batch. */
export type BatchResult =
  | { status: "COMPLETED"; output: JsonValue }
  | { status: "FAILED" | "IN_DOUBT"; error: StepError };

/**
 * The error that an element of a batch's answer carries.
 * @param fallback - for an element that says nothing about it
 */
export function errorOfItem(element: JsonObject, fallback: string): StepError {
  const { error } = element;
  const facts = isJsonObject(error) ? error : element;
  const code = typeof facts["code"] === "string" ? facts["code"] : "TOOL_FAILED";
  const text = typeof error === "string" && error !== "" ? error : facts["message"];
  return { code, message: typeof text === "string" ? text : fallback, retryable: false };
}
