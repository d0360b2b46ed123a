import { z } from "zod";

/**
 * Permissions of a caller: `read` stored data, `execute` its own plans, `operate` running plans (cancel,
 * approve, rerun, metrics), `admin` everything.
 */
export const ScopeSchema = z.enum(["read", "execute", "operate", "admin"]);
export type Scope = z.infer<typeof ScopeSchema>;

/** Owner of requests, plans and keys. */
export const TenantSchema = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, "must be 1 to 64 of A-Z a-z 0-9 _ -");
