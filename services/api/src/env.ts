import { z } from "zod";

/** Settings of the service, as the environment gives them. */
export const ApiSettingsSchema = z.object({
  MONGODB_URL: z.string().min(1),
  REDIS_URL: z.string().min(1),
  /** Prefix of all keys in Redis. */
  QUEUE_PREFIX: z.string().min(1).max(100).default("planwright"),
  HOST: z.string().min(1).default("127.0.0.1"),
  PORT: z.coerce.number().int().min(0).max(65_535).default(4000),
  /** Owner of everything that is asked here. */
  TENANT: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/, "must be 1 to 64 of A-Z a-z 0-9 _ -")
    .default("default"),
  /** Whether clients may read the schema. */
  INTROSPECTION: z.enum(["on", "off"]).default("on"),
  /** Mutations under way at once, at most: what comes beyond is refused. */
  MAX_PENDING_MUTATIONS: z.coerce.number().int().min(1).max(100_000).default(200),
  /** Plans that are not over, at most, over all services: new ones are refused beyond. */
  MAX_UNFINISHED_PLANS: z.coerce.number().int().min(1).max(100_000_000).default(100_000),
  /** Longest that one operation on MongoDB may take, in milliseconds. */
  MONGODB_TIMEOUT_MS: z.coerce.number().int().min(100).max(60_000).default(5_000),
  /** Where this process dies, stands still or fails on purpose; for tests. */
  FAILPOINT: z.string().max(200).optional(),
  /** Longest that the end of the service may take, in milliseconds. */
  SHUTDOWN_TIMEOUT_MS: z.coerce.number().int().min(100).max(600_000).default(10_000),
  LOG_LEVEL: z.enum(["fatal", "error", "warn", "info", "debug", "trace", "silent"]).default("info"),
});
export type ApiSettings = z.infer<typeof ApiSettingsSchema>;
