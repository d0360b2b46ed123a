import type { Scope } from "./scope.ts";

/** A key as it is stored: who it speaks for, and never the key itself. */
export interface ApiKeyDocument {
  /** "key_" and 16 of a-z 2-7: names the key without being one. */
  _id: string;
  /**
   * SHA-256 of the key, in hex. With 256 random bits there is nothing to guess that a slow hash would
   * protect.
   */
  hash: string;
  tenant: string;
  name: string;
  scopes: Scope[];
  createdAt: Date;
  /** To the minute; null until it was used. */
  lastUsedAt: Date | null;
  expiresAt: Date | null;
  revokedAt: Date | null;
}
