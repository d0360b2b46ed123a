import {
  HostNameSchema,
  MongodbUrlSchema,
  OutboundAddressesSchema,
  RedisUrlSchema,
  SettingsError,
} from "@planwright/runtime";
import { TenantSchema } from "@planwright/store";
import { z } from "zod";
import { isLoopback } from "./access/loopback.ts";
import type { TokenSettings } from "./access/tokens.ts";

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

/** An address that no one on the way can read or change: https, or http on this machine. */
const SafeUrlSchema = z.url({ protocol: /^https?$/ }).refine((text) => {
  if (!URL.canParse(text)) return true; // told by the check before
  const url = new URL(text);
  return url.protocol === "https:" || isLoopback(url.hostname);
}, "must be https, or http on this machine");

/** Settings of the service, as the environment gives them. */
export const ApiSettingsSchema = z.object({
  MONGODB_URL: MongodbUrlSchema,
  REDIS_URL: RedisUrlSchema,
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
  /** Owner of everything that is asked without a credential. */
  TENANT: TenantSchema.default("default"),
  /** Who may ask without a credential: callers that reach a service bound to loopback, all callers, or none. */
  ANONYMOUS: z.enum(["loopback", "allow", "refuse"]).default("loopback"),
  /** Where the keys stand that tokens are signed with. Without it no tokens are accepted. */
  JWKS_URL: SafeUrlSchema.optional(),
  /** Who must have issued a token, and for whom; both are needed with JWKS_URL. */
  JWT_ISSUER: z.string().min(1).max(1_000).optional(),
  JWT_AUDIENCE: z.string().min(1).max(1_000).optional(),
  /** Claims of a token that hold its tenant and its scopes. */
  JWT_TENANT_CLAIM: z.string().min(1).max(200).default("tenant"),
  JWT_SCOPE_CLAIM: z.string().min(1).max(200).default("scope"),
  /** Where JWKS_URL may lead to. */
  OUTBOUND_ADDRESSES: OutboundAddressesSchema,
  /** Operations of one key or token in a minute, at most, over all processes; 0: any. */
  REQUESTS_PER_MINUTE: z.coerce.number().int().min(0).max(100_000_000).default(6_000),
  /** Whether clients may read the schema. Default: on where HOST is loopback. */
  INTROSPECTION: z.enum(["on", "off"]).optional(),
  /** Mutations under way at once, at most: what comes beyond is refused. */
  MAX_PENDING_MUTATIONS: z.coerce.number().int().min(1).max(100_000).default(200),
  /** Plans that are not over, at most, over all services: new ones are refused beyond. */
  MAX_UNFINISHED_PLANS: z.coerce.number().int().min(1).max(100_000_000).default(100_000),
  /** Requests that clients follow at once, at most: subscriptions beyond are refused. */
  MAX_SUBSCRIPTIONS: z.coerce.number().int().min(1).max(1_000_000).default(10_000),
  /** One answer holds so many bytes at most. */
  ANSWER_MAX_BYTES: z.coerce.number().int().min(1_048_576).max(67_108_864).default(8_388_608),
  /** Outputs above this size go by reference, in bytes of JSON. */
  OUTPUT_INLINE_MAX_BYTES: z.coerce.number().int().min(1_024).max(1_048_576).default(65_536),
  /** Bytes that large answers may hold together, while they are read and until they are sent. */
  LARGE_ANSWERS_BYTES: z.coerce.number().int().min(16_777_216).max(17_179_869_184).default(134_217_728),
  /** Longest that a whole request may take to arrive, in milliseconds; its headers at most 10,000 of them. */
  REQUEST_TIMEOUT_MS: z.coerce.number().int().min(1_000).max(600_000).default(30_000),
  /** Origins of pages from elsewhere that may connect, comma-separated, such as https://ops.example.org. */
  CORS_ORIGINS: listOf(
    z.url({ protocol: /^https?$/ }).transform((text) => new URL(text).origin),
    100,
  ).default([]),
  /** Most model calls for one request, repairs and replans included. */
  REQUEST_MAX_MODEL_CALLS: z.coerce.number().int().min(0).max(1_000_000).default(30),
  /** Most tokens that the model calls of one request may take, prompts and answers. */
  REQUEST_MAX_TOKENS: z.coerce.number().int().min(0).max(1_000_000_000).default(500_000),
  /** Most that the model calls of one request may cost, in US dollars. Without it, any. */
  REQUEST_MAX_COST_USD: z.coerce.number().min(0).max(1_000_000).optional(),
  /** Whether the editor for operations is at /graphiql. Default: on while HOST is loopback. */
  GRAPHIQL: z.enum(["on", "off"]).optional(),
  /** Whether agents may hand plans over by MCP, at /mcp. */
  MCP: z.enum(["on", "off"]).default("off"),
  /** Names by which agents reach /mcp beside loopback, comma-separated, such as planwright.example.org. */
  MCP_HOSTS: listOf(HostNameSchema, 100).default([]),
  /** Most that a step may ask for as its timeoutMs, in milliseconds; what asks for more gets a warning. The same for executors. */
  MAX_STEP_TIMEOUT_MS: z.coerce.number().int().min(1).max(3_600_000).default(600_000),
  /** Longest that one operation on MongoDB may take, in milliseconds. */
  MONGODB_TIMEOUT_MS: z.coerce.number().int().min(100).max(60_000).default(5_000),
  /** Where this process dies, stands still or fails on purpose; for tests. */
  FAILPOINT: z.string().max(200).optional(),
  /** Longest that the end of the service may take, in milliseconds. */
  SHUTDOWN_TIMEOUT_MS: z.coerce.number().int().min(100).max(600_000).default(10_000),
  LOG_LEVEL: z.enum(["fatal", "error", "warn", "info", "debug", "trace", "silent"]).default("info"),
});
export type ApiSettings = z.infer<typeof ApiSettingsSchema>;

/** Whose tokens are accepted; undefined without JWKS_URL. @throws {SettingsError} when issuer or audience is missing */
export function tokenSettings(settings: ApiSettings): TokenSettings | undefined {
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
