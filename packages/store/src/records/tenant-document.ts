import { z } from "zod";

/** What an operator set for a tenant; null: the default of the services. */
export const TenantLimitsSchema = z.object({
  /** Most plans that are being worked on or wait for a worker, and requests in planning. */
  maxUnfinishedPlans: z.number().int().min(0).max(100_000_000).nullable(),
  /** Most subscriptions that are open at once in one process of the API. */
  maxSubscriptions: z.number().int().min(0).max(1_000_000).nullable(),
  /** Most model calls within an hour; planning waits beyond that. */
  maxModelCallsPerHour: z.number().int().min(1).max(1_000_000).nullable(),
  /** Most WebSocket connections that are open at once to one process of the API. */
  maxConnections: z.number().int().min(0).max(1_000_000).nullable(),
  /** Number of turns that the tenant gets for one of a tenant of weight 1, which is the default. */
  weight: z.number().int().min(1).max(100).nullable(),
});
export type TenantLimits = z.infer<typeof TenantLimitsSchema>;

/** Some limits of a tenant. */
export const TenantChangesSchema = TenantLimitsSchema.partial();
export type TenantChanges = z.infer<typeof TenantChangesSchema>;

/** A tenant with its limits, as it is stored. A document of an earlier version lacks some. */
export interface TenantDocument extends Partial<TenantLimits> {
  /** Name of the tenant. */
  _id: string;
  updatedAt: Date;
}

/** Permissions of a caller: `read` data, `execute` own plans, `operate` running plans, `admin` all. */
export const ScopeSchema = z.enum(["read", "execute", "operate", "admin"]);
export type Scope = z.infer<typeof ScopeSchema>;

/** Owner of requests, plans and keys. */
export const TenantSchema = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, "must be 1 to 64 of A-Z a-z 0-9 _ -");

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
