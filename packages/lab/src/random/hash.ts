import { createHash } from "node:crypto";

/** A whole number of 32 bits that is always the same for the same text. */
export const hashOf = (text: string): number => createHash("sha256").update(text).digest().readUInt32BE();

/**
 * A number in [0, 1) that is always the same for the same texts: it differs from case to case, not from run
 * to run.
 */
export const fractionOf = (...texts: readonly (string | number)[]): number =>
  hashOf(JSON.stringify(texts)) / 2 ** 32;
