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
