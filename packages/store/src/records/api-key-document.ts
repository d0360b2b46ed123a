import type { Scope } from "./scope.ts";

/** A key as it is stored, without the key itself. */
export interface ApiKeyDocument {
  /** "key_" and 16 of a-z 2-7: identifies the key and is not secret. */
  _id: string;
  /** SHA-256 of the key, in hex. A slow hash is not needed: 256 random bits cannot be guessed. */
  hash: string;
  tenant: string;
  name: string;
  scopes: Scope[];
  createdAt: Date;
  /** To the minute; null until the first use. */
  lastUsedAt: Date | null;
  expiresAt: Date | null;
  revokedAt: Date | null;
}
