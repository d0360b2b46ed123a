import type { Argument } from "../values/argument.ts";
import { give } from "../values/link-values.ts";
import type { Reading } from "../values/reading.ts";
import { suffixAt } from "../values/suffix.ts";

/** "the auth service" after a preposition: one word before what its parameter is called. */
export function suffixed(reading: Reading, at: number): Argument | null {
  const found = suffixAt(reading, at);
  if (!found) return null;
  const { parameter, value, next } = found;
  return { ...give(reading, parameter, { text: value.text, kind: value.kind, next }), next };
}
