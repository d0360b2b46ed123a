import { parseExactJson } from "./exact-json.ts";
import type { JsonValue } from "./json.ts";

/** Parses JSON text, with exact numbers; the message contains the position of the error. */
export function parseJson(text: string): { ok: true; value: JsonValue } | { ok: false; message: string } {
  try {
    return { ok: true, value: parseExactJson(text) };
  } catch (error) {
    return { ok: false, message: error instanceof Error ? error.message.slice(0, 200) : "not JSON" };
  }
}
