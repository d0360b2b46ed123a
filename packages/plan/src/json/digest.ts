import { createHash } from "node:crypto";
import { canonicalJson } from "./canonical-json.ts";

/** SHA-256 of a text in UTF-8, in hexadecimal. */
export function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** SHA-256 of a text that is given in parts. */
export function sha256OfParts(parts: Iterable<string>): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
}

/** SHA-256 of the canonical JSON of a value, in hexadecimal: equal values have equal digests. */
export function canonicalDigest(value: unknown): string {
  return sha256(canonicalJson(value));
}
