import { redactText } from "@planwright/runtime";
import type { RecordedError } from "@planwright/store";

/**
 * An error that may be stored and shown: error texts of providers may contain keys and addresses with
 * passwords.
 */
export function redactedError({ code, message }: RecordedError): RecordedError {
  return { code, message: redactText(message) };
}
