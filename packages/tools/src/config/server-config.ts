import { ContractDeclarationSchema, SecretNameSchema } from "@planwright/plan";
import { z } from "zod";

/** Name of a server in the configuration; it distinguishes tools of equal names: `server/tool`. */
export const ServerNameSchema = z
  .string()
  .regex(/^[A-Za-z0-9._-]{1,128}$/, "must be 1 to 128 of A-Z a-z 0-9 . _ -");

/** Which tools and tenants may send a secret to a server; an absent list is no limit. */
const SecretGrantSchema = z.strictObject({
  /** The names of the tools on the server. */
  tools: z.array(z.string().min(1).max(128)).max(1_000).optional(),
  tenants: z.array(z.string().min(1).max(200)).max(1_000).optional(),
});

const common = {
  /**
   * True: hints of this server may also loosen the contracts of its tools. False: no hint may. Absent:
   * `readOnlyHint` may, for parallelism and repeats.
   */
  trusted: z.boolean().optional(),
  disabled: z.boolean().default(false),
  /**
   * "known": tools get the reviewed contracts that we ship for the package in the command line; "known:PACKAGE"
   * names the package. Absent: they get none.
   */
  contracts: z
    .string()
    .max(256)
    .regex(/^known(:.+)?$/, 'must be "known" or "known:PACKAGE"')
    .optional(),
  /** The operator's contracts of tools, by tool name; they override all other declarations. */
  tools: z.record(z.string().min(1).max(256), ContractDeclarationSchema.strict()).default({}),
  /** Secrets that plans may send to this server, by name; no others are sent. */
  secrets: z.record(SecretNameSchema, SecretGrantSchema).default({}),
  /** Longest that a tool call may take, in milliseconds; calls that ask for less get less. */
  timeoutMs: z.number().int().min(1).max(3_600_000).optional(),
};

/** A server that is started as a child process and reached over its standard input and output. */
export const StdioServerSchema = z.strictObject({
  type: z.literal("stdio"),
  command: z.string().min(1).max(4_096),
  args: z.array(z.string().max(65_536)).max(1_000).default([]),
  /**
   * Variables of the process beside PATH, HOME and the like. No other variable of our environment is passed.
   */
  env: z.record(z.string().min(1), z.string()).default({}),
  cwd: z.string().min(1).max(4_096).optional(),
  ...common,
});

/** A server that is reached over HTTP. */
export const HttpServerSchema = z.strictObject({
  type: z.literal("http"),
  /**
   * "sse": the older HTTP+SSE transport is tried first. Absent: streamable HTTP. Where the server refuses that,
   * the other one is tried.
   */
  transport: z.literal("sse").optional(),
  url: z.url({ protocol: /^https?$/, error: "must be an http or https URL" }).max(4_096),
  headers: z.record(z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/), z.string().max(65_536)).default({}),
  ...common,
});

/** How to reach one MCP server. */
export const ServerConfigSchema = z.discriminatedUnion("type", [StdioServerSchema, HttpServerSchema]);
export type StdioServerConfig = z.output<typeof StdioServerSchema>;
export type HttpServerConfig = z.output<typeof HttpServerSchema>;
export type ServerConfig = z.output<typeof ServerConfigSchema>;

export type SecretGrant = z.output<typeof SecretGrantSchema>;

/** All MCP servers, by name. */
export const ServersConfigSchema = z.strictObject({
  mcpServers: z.record(ServerNameSchema, ServerConfigSchema),
});
export type ServersConfig = z.output<typeof ServersConfigSchema>;
/** The form that people write: fields with a default may be missing. */
export type ServersConfigInput = z.input<typeof ServersConfigSchema>;
