import { createHash } from "node:crypto";

/** A number in [0, 1) that is always the same for the same texts: what differs from case to case, and not from run to run. */
export function chance(...texts: readonly (string | number)[]): number {
  return createHash("sha256").update(JSON.stringify(texts)).digest().readUInt32BE() / 2 ** 32;
}
