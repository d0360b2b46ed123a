import {
  DeadAfterSchema,
  MongodbUrlSchema,
  OutboundAddressesSchema,
  RedisUrlSchema,
} from "@planwright/runtime";
import { z } from "zod";

/** Settings of the executor; the README lists them with units and defaults. */
export const ExecutorSettingsSchema = z.object({
  MONGODB_URL: MongodbUrlSchema,
  REDIS_URL: RedisUrlSchema,
  MCP_SERVERS_FILE: z.string().min(1),
  /** Where tool servers may be. */
  OUTBOUND_ADDRESSES: OutboundAddressesSchema,
  /** Folder with one file for each secret. */
  SECRETS_DIR: z.string().min(1).optional(),
  QUEUE_PREFIX: z.string().min(1).max(100).default("planwright"),
  HOST: z.string().min(1).default("127.0.0.1"),
  HEALTH_PORT: z.coerce.number().int().min(0).max(65_535).default(4012),
  LOG_LEVEL: z.enum(["fatal", "error", "warn", "info", "debug", "trace"]).default("info"),
  /** Plans that one process works on at once. */
  MAX_PLANS: z.coerce.number().int().min(1).max(10_000).default(64),
  /** Most that the outputs in memory have together, as JSON, and those that one step may refer to, in bytes. */
  OUTPUT_MEMORY_BYTES: z.coerce.number().int().min(16_777_216).max(17_179_869_184).default(268_435_456),
  /** Silence after which others declare this process dead and take over, in milliseconds. */
  DEAD_AFTER_MS: DeadAfterSchema,
  /** Silence after which a call's place under a limit is given to others, in milliseconds; the same for all executors. */
  LIMIT_LEASE_MS: z.coerce.number().int().min(1_000).max(600_000).default(10_000),
  /** Longest that connecting to a tool server may take, with the listing of its tools, in milliseconds. */
  CONNECT_TIMEOUT_MS: z.coerce.number().int().min(100).max(600_000).default(30_000),
  /** Longest a plan may take from its first claim, in milliseconds. */
  PLAN_TIMEOUT_MS: z.coerce.number().int().min(1_000).max(604_800_000).default(3_600_000),
  /** Most that a step may ask for as its timeoutMs, in milliseconds, where the plan's policy allows less; the same for the API. */
  MAX_STEP_TIMEOUT_MS: z.coerce.number().int().min(1).max(3_600_000).default(600_000),
  /** How often plans that the queue lost are looked for, in milliseconds. */
  SWEEP_EVERY_MS: z.coerce.number().int().min(100).max(60_000).default(1_000),
  /** How long requests that ended are kept, in days. */
  RETENTION_DAYS: z.union([z.literal("never"), z.coerce.number().int().min(1).max(36_500)]).default(30),
  /** Whether shapes of outputs are learned. */
  LEARN_OUTPUTS: z.enum(["on", "off"]).default("on"),
  /** Where this process dies, stands still or fails on purpose; for tests. */
  FAILPOINT: z.string().max(200).optional(),
  /** How long running calls may go on after SIGTERM, in milliseconds. */
  SHUTDOWN_TIMEOUT_MS: z.coerce.number().int().min(100).max(600_000).default(25_000),
});
export type ExecutorSettings = z.infer<typeof ExecutorSettingsSchema>;
