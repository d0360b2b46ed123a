import type { JsonValue } from "./json.ts";

/** Parses JSON text; the message contains the position of the error. */
export function parseJson(text: string): { ok: true; value: JsonValue } | { ok: false; message: string } {
  try {
    const value: JsonValue = JSON.parse(text);
    return { ok: true, value };
  } catch (error) {
    return { ok: false, message: error instanceof Error ? error.message.slice(0, 200) : "not JSON" };
  }
}
