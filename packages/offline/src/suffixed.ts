import type { Argument } from "./argument.ts";
import { give } from "./link-values.ts";
import type { Reading } from "./reading.ts";
import { suffixAt } from "./suffix.ts";

/** "the auth service" behind a preposition: one word in front of what its parameter is called. */
export function suffixed(reading: Reading, at: number): Argument | null {
  const found = suffixAt(reading, at);
  if (!found) return null;
  const { parameter, value, next } = found;
  return { ...give(reading, parameter, { text: value.text, kind: value.kind, next }), next };
}
