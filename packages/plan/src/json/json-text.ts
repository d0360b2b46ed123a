import { parseExactJson } from "./exact-json.ts";
import type { JsonValue } from "./json.ts";

/**
 * Longest JSON text, in bytes, that is read, resolved or written on the event loop of a service. A larger
 * one is held as a {@link JsonText}.
 */
export const LARGE_JSON_BYTES = 262_144;

/** A value whose JSON text is large: it is held as that text, because building the value blocks the process. */
export class JsonText {
  /** May have the white space with which a tool wrote it. */
  readonly text: string;
  /** Size of the text in UTF-8. */
  readonly sizeBytes: number;
  #value: WeakRef<object> | undefined;

  constructor(text: string, sizeBytes: number) {
    this.text = text;
    this.sizeBytes = sizeBytes;
  }

  /**
   * The value; not to be changed. Takes about 50 ms for each MiB, more for many fields. It is kept only as
   * long as memory allows.
   */
  value(): JsonValue {
    const known = this.#value?.deref();
    if (known !== undefined) return known as JsonValue;
    const value = parseExactJson(this.text);
    if (typeof value === "object" && value !== null) this.#value = new WeakRef(value);
    return value;
  }
}

/** A value, or the text of a large one. */
export type HeldJson = JsonValue | JsonText;

/** The value itself; see {@link JsonText.value} for the time that it takes. */
export function valueOfHeld(held: HeldJson): JsonValue {
  return held instanceof JsonText ? held.value() : held;
}
