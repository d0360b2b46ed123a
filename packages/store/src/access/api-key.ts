import { createHash } from "node:crypto";
import type { RandomBytes } from "@planwright/plan";
import { z } from "zod";
import type { ApiKeyDocument } from "../records/api-key-document.ts";
import { ScopeSchema, TenantSchema } from "../records/scope.ts";

/** What is known of a key, without its hash. */
export type ApiKey = Omit<ApiKeyDocument, "hash">;

/** What a new key is to be. */
export const NewApiKeySchema = z.object({
  tenant: TenantSchema,
  /** Who holds it, for people: it stands beside what is approved with it. */
  name: z.string().regex(/^[^\p{C}]{1,100}$/u, "must be 1 to 100 visible characters"),
  scopes: z.array(ScopeSchema).min(1).max(10),
  /** Default: it does not end by itself. */
  expiresAt: z.date().optional(),
});
export type NewApiKey = z.infer<typeof NewApiKeySchema>;

const PREFIX = "pw_";
const SECRET_BYTES = 32;
const FORM = /^pw_[A-Za-z0-9_-]{43}$/;
const ID_LETTERS = "abcdefghijklmnopqrstuvwxyz234567";

/** A new key: "pw_" and 256 random bits in base64url. */
export function newSecret(randomBytes: RandomBytes): string {
  const bytes = new Uint8Array(SECRET_BYTES);
  randomBytes(bytes);
  return PREFIX + Buffer.from(bytes).toString("base64url");
}

/** The name of a new key. */
export function newApiKeyId(randomBytes: RandomBytes): string {
  const bytes = new Uint8Array(16);
  randomBytes(bytes);
  const letters = Array.from(bytes, (byte) => ID_LETTERS[byte % ID_LETTERS.length]);
  return `key_${letters.join("")}`;
}

/** True for a text in the form of our keys, whether there is such a key or not. */
export function isApiKeyShaped(text: string): boolean {
  return FORM.test(text);
}

/** What a key is stored and found by. */
export function hashOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}
