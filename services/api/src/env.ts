import { z } from "zod";

const PortNumberSchema = z.number().int().min(0).max(65_535);
const PortSchema = z.coerce.number().pipe(PortNumberSchema);

/** A text of values with commas between them. */
function listOf<Item extends z.ZodType<unknown, string>>(item: Item, max: number) {
  const toTexts = (text: string): string[] => text.split(",").map((part) => part.trim());
  return z
    .string()
    .transform((text) => toTexts(text).filter(Boolean))
    .pipe(z.array(item).max(max));
}

/** Settings of the service, as the environment gives them. */
export const ApiSettingsSchema = z.object({
  MONGODB_URL: z.string().min(1),
  REDIS_URL: z.string().min(1),
  /** Prefix of all keys in Redis. */
  QUEUE_PREFIX: z.string().min(1).max(100).default("planwright"),
  HOST: z.string().min(1).default("127.0.0.1"),
  PORT: PortSchema.default(4000),
  /** Listens on all of these instead of PORT, comma-separated: for clients that plan at one and execute at another. */
  PORTS: listOf(
    z
      .string()
      .regex(/^\d{1,5}$/, "must be a port")
      .transform(Number)
      .pipe(PortNumberSchema),
    10,
  ).optional(),
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
  /** Requests that clients follow at once, at most: subscriptions beyond are refused. */
  MAX_SUBSCRIPTIONS: z.coerce.number().int().min(1).max(1_000_000).default(10_000),
  /** Origins of pages from elsewhere that may connect, comma-separated, such as https://ops.example.org. */
  CORS_ORIGINS: listOf(z.url({ protocol: /^https?$/ }), 100).default([]),
  /** Most model calls for one request, repairs and replans included. */
  REQUEST_MAX_MODEL_CALLS: z.coerce.number().int().min(0).max(1_000_000).default(30),
  /** Most tokens that the model calls of one request may take, prompts and answers. */
  REQUEST_MAX_TOKENS: z.coerce.number().int().min(0).max(1_000_000_000).default(500_000),
  /** Most that the model calls of one request may cost, in US dollars. Without it, any. */
  REQUEST_MAX_COST_USD: z.coerce.number().min(0).max(1_000_000).optional(),
  /** Whether agents may hand plans over by MCP, at /mcp. */
  MCP: z.enum(["on", "off"]).default("off"),
  /** Names by which agents reach /mcp beside loopback, comma-separated, such as planwright.example.org. */
  MCP_HOSTS: listOf(z.string().min(1).max(255), 100).default([]),
  /** Longest that one operation on MongoDB may take, in milliseconds. */
  MONGODB_TIMEOUT_MS: z.coerce.number().int().min(100).max(60_000).default(5_000),
  /** Where this process dies, stands still or fails on purpose; for tests. */
  FAILPOINT: z.string().max(200).optional(),
  /** Longest that the end of the service may take, in milliseconds. */
  SHUTDOWN_TIMEOUT_MS: z.coerce.number().int().min(100).max(600_000).default(10_000),
  LOG_LEVEL: z.enum(["fatal", "error", "warn", "info", "debug", "trace", "silent"]).default("info"),
});
export type ApiSettings = z.infer<typeof ApiSettingsSchema>;
