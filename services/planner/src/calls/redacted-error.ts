import { redactText } from "@planwright/runtime";
import type { RecordedError } from "@planwright/store";

/** An error as it may be stored and shown: what providers say may hold keys and addresses with passwords. */
export function redactedError({ code, message }: RecordedError): RecordedError {
  return { code, message: redactText(message) };
}
