import { createHash } from "node:crypto";
import { canonicalJson } from "./canonical-json.ts";

/** SHA-256 of a text in UTF-8, in hexadecimal. */
export function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** SHA-256 of the canonical JSON of a value, in hexadecimal: equal values have equal digests. */
export function canonicalDigest(value: unknown): string {
  return sha256(canonicalJson(value));
}
