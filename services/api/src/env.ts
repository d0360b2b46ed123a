import {
  HostNameSchema,
  MongodbUrlSchema,
  OutboundAddressesSchema,
  parseRoleSettings,
  RedisUrlSchema,
  type RoleOptions,
  SettingsError,
} from "@planwright/runtime";
import { TenantSchema } from "@planwright/store";
import { z } from "zod";
import { isLoopback, type TokenSettings } from "./access/gate.ts";

const PortNumberSchema = z.number().int().min(0).max(65_535);
const PortSchema = z.coerce.number().pipe(PortNumberSchema);

/** A comma-separated list. */
function listOf<Item extends z.ZodType<unknown, string>>(item: Item, max: number) {
  const toTexts = (text: string): string[] => text.split(",").map((part) => part.trim());
  return z
    .string()
    .transform((text) => toTexts(text).filter(Boolean))
    .pipe(z.array(item).max(max));
}

/** A URL whose traffic cannot be read or changed in transit: https, or http on this machine. */
const SafeUrlSchema = z.url({ protocol: /^https?$/ }).refine((text) => {
  if (!URL.canParse(text)) return true; // reported by z.url
  const url = new URL(text);
  return url.protocol === "https:" || isLoopback(url.hostname);
}, "must be https, or http on this machine");

/** Settings of the service from the environment. */
export const ApiSettingsSchema = z.object({
  MONGODB_URL: MongodbUrlSchema,
  REDIS_URL: RedisUrlSchema,
  /** Prefix of all keys in Redis. */
  QUEUE_PREFIX: z.string().min(1).max(100).default("planwright"),
  HOST: z.string().min(1).default("127.0.0.1"),
  PORT: PortSchema.default(4000),
  /**
   * Listens on all of these instead of PORT, comma-separated: for clients that use different ports to plan
   * and to execute.
   */
  PORTS: listOf(
    z
      .string()
      .regex(/^\d{1,5}$/, "must be a port")
      .transform(Number)
      .pipe(PortNumberSchema),
    10,
  ).optional(),
  /** Tenant of callers without a credential. */
  TENANT: TenantSchema.default("default"),
  /** Who may call without a credential: callers of a service bound to loopback, all callers, or none. */
  ANONYMOUS: z.enum(["loopback", "allow", "refuse"]).default("loopback"),
  /** Address of the key set that signs tokens. Without it no tokens are accepted. */
  JWKS_URL: SafeUrlSchema.optional(),
  /** Required issuer and audience of tokens; both are needed with JWKS_URL. */
  JWT_ISSUER: z.string().min(1).max(1_000).optional(),
  JWT_AUDIENCE: z.string().min(1).max(1_000).optional(),
  /** Claims of a token that hold its tenant and its scopes. */
  JWT_TENANT_CLAIM: z.string().min(1).max(200).default("tenant"),
  JWT_SCOPE_CLAIM: z.string().min(1).max(200).default("scope"),
  /** Networks that JWKS_URL may point to. */
  OUTBOUND_ADDRESSES: OutboundAddressesSchema,
  /** Most operations of one key or token in a minute, over all processes; 0: no limit. */
  REQUESTS_PER_MINUTE: z.coerce.number().int().min(0).max(100_000_000).default(6_000),
  /** Whether clients may read the schema. Default: on if HOST is loopback. */
  INTROSPECTION: z.enum(["on", "off"]).optional(),
  /** Most mutations that run at once; more are refused. */
  MAX_PENDING_MUTATIONS: z.coerce.number().int().min(1).max(100_000).default(200),
  /** Most queries that run at once; more wait for a short time, then they are refused. */
  MAX_PENDING_QUERIES: z.coerce.number().int().min(1).max(100_000).default(32),
  /** Most unfinished plans of one tenant, over all services; then new ones are refused. */
  MAX_UNFINISHED_PLANS: z.coerce.number().int().min(1).max(100_000_000).default(100_000),
  /** The same for all tenants together. */
  MAX_TOTAL_UNFINISHED_PLANS: z.coerce.number().int().min(1).max(100_000_000).default(1_000_000),
  /** Most subscriptions of one tenant that are open at once; more are refused. */
  MAX_SUBSCRIPTIONS: z.coerce.number().int().min(1).max(1_000_000).default(10_000),
  /** The same for all tenants together. */
  MAX_TOTAL_SUBSCRIPTIONS: z.coerce.number().int().min(1).max(1_000_000).default(50_000),
  /** Most WebSocket connections of one tenant to this process; more are closed. */
  MAX_CONNECTIONS: z.coerce.number().int().min(1).max(1_000_000).default(1_000),
  /** Model calls of one tenant within an hour, as the planners have it: shown where planning waits. */
  MAX_MODEL_CALLS_PER_HOUR: z.coerce.number().int().min(1).max(1_000_000).default(5_000),
  /** Largest answer, in bytes. */
  ANSWER_MAX_BYTES: z.coerce.number().int().min(1_048_576).max(67_108_864).default(8_388_608),
  /** Larger outputs are sent as references, in bytes of JSON. */
  OUTPUT_INLINE_MAX_BYTES: z.coerce.number().int().min(1_024).max(1_048_576).default(65_536),
  /** Memory for all large answers together, in bytes, from the first read until they are sent. */
  LARGE_ANSWERS_BYTES: z.coerce.number().int().min(16_777_216).max(17_179_869_184).default(134_217_728),
  /** Time for a complete request to arrive, in milliseconds; its headers have at most 10,000. */
  REQUEST_TIMEOUT_MS: z.coerce.number().int().min(1_000).max(600_000).default(30_000),
  /** Other origins whose pages may connect, comma-separated, such as https://ops.example.org. */
  CORS_ORIGINS: listOf(
    z.url({ protocol: /^https?$/ }).transform((text) => new URL(text).origin),
    100,
  ).default([]),
  /** Most model calls for one request, repairs and replans included. */
  REQUEST_MAX_MODEL_CALLS: z.coerce.number().int().min(0).max(1_000_000).default(30),
  /** Most tokens of prompts and answers for one request. */
  REQUEST_MAX_TOKENS: z.coerce.number().int().min(0).max(1_000_000_000).default(500_000),
  /** Highest cost of model calls for one request, in US dollars. Default: no limit. */
  REQUEST_MAX_COST_USD: z.coerce.number().min(0).max(1_000_000).optional(),
  /** Whether the GraphiQL editor is served at /graphiql. Default: on if HOST is loopback. */
  GRAPHIQL: z.enum(["on", "off"]).optional(),
  /** Whether agents may submit plans over MCP, at /mcp. */
  MCP: z.enum(["on", "off"]).default("off"),
  /** Host names for /mcp besides loopback, comma-separated, such as planwright.example.org. */
  MCP_HOSTS: listOf(HostNameSchema, 100).default([]),
  /**
   * Highest timeoutMs of a step, in milliseconds; a higher one gives a warning. Set the same for executors.
   */
  MAX_STEP_TIMEOUT_MS: z.coerce.number().int().min(1).max(3_600_000).default(600_000),
  /**
   * Address of the web page of a trace, with {traceId} in place of its id. Default: traces have no address.
   */
  TRACE_URL_TEMPLATE: z
    .url({ protocol: /^https?$/ })
    .max(1_000)
    .refine((text) => text.includes("{traceId}"), "must have {traceId} in place of the trace id")
    .optional(),
  /** Timeout of one operation on MongoDB, in milliseconds. */
  MONGODB_TIMEOUT_MS: z.coerce.number().int().min(100).max(60_000).default(5_000),
  /** The point at which this process dies, blocks or fails on purpose; for tests. */
  FAILPOINT: z.string().max(200).optional(),
  /** Time for the shutdown of the service, in milliseconds. */
  SHUTDOWN_TIMEOUT_MS: z.coerce.number().int().min(100).max(600_000).default(10_000),
  LOG_LEVEL: z.enum(["fatal", "error", "warn", "info", "debug", "trace", "silent"]).default("info"),
});

/** Settings of the service; `tokens` is undefined without JWKS_URL. */
export interface ApiSettings extends z.infer<typeof ApiSettingsSchema> {
  tokens: TokenSettings | undefined;
}

/**
 * Reads the settings from the environment.
 * @throws {SettingsError} also when issuer or audience of tokens is missing
 */
export function readApiSettings(env: NodeJS.ProcessEnv, options: RoleOptions = {}): ApiSettings {
  const settings = parseRoleSettings(ApiSettingsSchema, env, options);
  return { ...settings, tokens: tokenSettings(settings) };
}

/**
 * Settings of accepted tokens; undefined without JWKS_URL.
 * @throws {SettingsError} when issuer or audience is missing
 */
export function tokenSettings(settings: z.infer<typeof ApiSettingsSchema>): TokenSettings | undefined {
  const { JWKS_URL: jwksUrl, JWT_ISSUER: issuer, JWT_AUDIENCE: audience } = settings;
  if (jwksUrl === undefined) return undefined;
  const problem = "is missing: tokens need a configured issuer and audience";
  const missing = [
    ...(issuer === undefined ? [{ variable: "JWT_ISSUER", problem }] : []),
    ...(audience === undefined ? [{ variable: "JWT_AUDIENCE", problem }] : []),
  ];
  if (issuer === undefined || audience === undefined) throw new SettingsError(missing);
  const { JWT_TENANT_CLAIM: tenantClaim, JWT_SCOPE_CLAIM: scopeClaim } = settings;
  return { jwksUrl, issuer, audience, tenantClaim, scopeClaim };
}
