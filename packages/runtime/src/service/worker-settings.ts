import { z } from "zod";
import { MongodbUrlSchema, RedisUrlSchema } from "../settings/addresses.ts";
import { DeadAfterSchema } from "../workers/start-heartbeat.ts";

/** The settings that every worker service has. HEALTH_PORT is separate, because its default differs. */
export const WORKER_SETTINGS = {
  MONGODB_URL: MongodbUrlSchema,
  REDIS_URL: RedisUrlSchema,
  QUEUE_PREFIX: z.string().min(1).max(100).default("planwright"),
  HOST: z.string().min(1).default("127.0.0.1"),
  LOG_LEVEL: z.enum(["fatal", "error", "warn", "info", "debug", "trace"]).default("info"),
  /**
   * Time without a heartbeat after which other workers declare this process dead and take over its work, in
   * milliseconds.
   */
  DEAD_AFTER_MS: DeadAfterSchema,
  /** How often MongoDB is searched for work that the queue lost, in milliseconds. */
  SWEEP_EVERY_MS: z.coerce.number().int().min(100).max(60_000).default(1_000),
  /** The place where this process dies, freezes or fails on purpose; for tests. */
  FAILPOINT: z.string().max(200).optional(),
  /**
   * How long work in progress may continue after SIGTERM, in milliseconds. Then other workers take over the
   * rest.
   */
  SHUTDOWN_TIMEOUT_MS: z.coerce.number().int().min(100).max(600_000).default(25_000),
};

/** The settings of a worker service that its shell reads. */
export type WorkerSettings = z.output<z.ZodObject<typeof WORKER_SETTINGS>> & { HEALTH_PORT: number };
