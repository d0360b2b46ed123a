import { createHash } from "node:crypto";

/** A 32-bit integer that is always the same for the same text. */
export const hashOf = (text: string): number => createHash("sha256").update(text).digest().readUInt32BE();

/** A number in [0, 1) that is always the same for the same texts. */
export const fractionOf = (...texts: readonly (string | number)[]): number =>
  hashOf(JSON.stringify(texts)) / 2 ** 32;
