import { ModelSettingsSchema } from "@planwright/models";
import { DeadAfterSchema, MongodbUrlSchema, RedisUrlSchema } from "@planwright/runtime";
import { z } from "zod";

/** Settings of the planner; the README lists them with units and defaults. */
export const PlannerSettingsSchema = z.object({
  ...ModelSettingsSchema.shape,
  /** JSON file with prices of models, which win over the table of `@planwright/models`. */
  MODEL_PRICES_FILE: z.string().min(1).max(4_096).optional(),
  MONGODB_URL: MongodbUrlSchema,
  REDIS_URL: RedisUrlSchema,
  QUEUE_PREFIX: z.string().min(1).max(100).default("planwright"),
  HOST: z.string().min(1).default("127.0.0.1"),
  HEALTH_PORT: z.coerce.number().int().min(0).max(65_535).default(4011),
  LOG_LEVEL: z.enum(["fatal", "error", "warn", "info", "debug", "trace"]).default("info"),
  /** Requests that one process plans at once. */
  MAX_REQUESTS: z.coerce.number().int().min(1).max(1_000).default(16),
  /** Side effects that a replan adds or changes: an operator approves them first, or they run at once. For plans made from sentences. */
  REPLANNED_EFFECTS: z.enum(["approve", "run"]).default("approve"),
  /** Silence after which others declare this process dead and take over, in milliseconds. */
  DEAD_AFTER_MS: DeadAfterSchema,
  /** How long a request waits for an executor to publish the first tools, in milliseconds. */
  CATALOGUE_WAIT_MS: z.coerce.number().int().min(0).max(3_600_000).default(60_000),
  /** How often requests that the queue lost are looked for, in milliseconds. */
  SWEEP_EVERY_MS: z.coerce.number().int().min(100).max(60_000).default(1_000),
  /** Where this process dies, stands still or fails on purpose; for tests. */
  FAILPOINT: z.string().max(200).optional(),
  /** How long planning may go on after SIGTERM, in milliseconds; what is left then is taken over when its lease ends. */
  SHUTDOWN_TIMEOUT_MS: z.coerce.number().int().min(100).max(600_000).default(25_000),
});
export type PlannerSettings = z.infer<typeof PlannerSettingsSchema>;
