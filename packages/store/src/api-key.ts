import { createHash } from "node:crypto";
import type { RandomBytes } from "@planwright/plan";
import { z } from "zod";
import type { ApiKeyDocument } from "./records/api-key-document.ts";
import { ScopeSchema, TenantSchema } from "./records/scope.ts";

/** A key as it is stored, without its hash. */
export type ApiKey = Omit<ApiKeyDocument, "hash">;

/** Input for a new key. */
export const NewApiKeySchema = z.object({
  tenant: TenantSchema,
  /** The holder's name, for people: it is shown with each approval that was given with this key. */
  name: z.string().regex(/^[^\p{C}]{1,100}$/u, "must be 1 to 100 visible characters"),
  scopes: z.array(ScopeSchema).min(1).max(10),
  /** Default: it does not expire. */
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

/** The id of a new key. */
export function newApiKeyId(randomBytes: RandomBytes): string {
  const bytes = new Uint8Array(16);
  randomBytes(bytes);
  const letters = Array.from(bytes, (byte) => ID_LETTERS[byte % ID_LETTERS.length]);
  return `key_${letters.join("")}`;
}

/** True for a text that has the form of our keys, whether or not such a key exists. */
export function isApiKeyShaped(text: string): boolean {
  return FORM.test(text);
}

/** The hash by which a key is stored and found. */
export function hashOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}
