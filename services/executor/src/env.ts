import {
  OutboundAddressesSchema,
  parseRoleSettings,
  type RoleOptions,
  WORKER_SETTINGS,
} from "@planwright/runtime";
import { RetentionDaysSchema } from "@planwright/store";
import { loadServersFile, type ServersConfig } from "@planwright/tools";
import { z } from "zod";

/** Settings of the executor; the README lists them with units and defaults. */
export const ExecutorSettingsSchema = z.object({
  ...WORKER_SETTINGS,
  HEALTH_PORT: z.coerce.number().int().min(0).max(65_535).default(4012),
  MCP_SERVERS_FILE: z.string().min(1),
  /** Folder for what the executor keeps on disk: `servers/NAME` is the working directory of a stdio server. */
  DATA_DIR: z.string().min(1).default(".data/planwright"),
  /** Which addresses tool servers may have. */
  OUTBOUND_ADDRESSES: OutboundAddressesSchema,
  /** Folder with one file for each secret. */
  SECRETS_DIR: z.string().min(1).optional(),
  /** Address at which browsers reach the API, for the way back from a sign-in at a tool server. */
  PUBLIC_URL: z
    .url({ protocol: /^https?$/, error: "must be an http or https URL" })
    .max(2_048)
    .optional(),
  /** Encrypts sign-ins at tool servers: 64 hexadecimal digits, the same for all executors. */
  SIGN_IN_KEY: z
    .string()
    .regex(/^[0-9a-f]{64}$/i, "must be 64 hexadecimal digits: openssl rand -hex 32")
    .optional(),
  /** Plans that one process works on at once. */
  MAX_PLANS: z.coerce.number().int().min(1).max(10_000).default(64),
  /**
   * Most bytes, as JSON, of all outputs in memory together, and of the outputs that one step may refer to.
   */
  OUTPUT_MEMORY_BYTES: z.coerce.number().int().min(16_777_216).max(17_179_869_184).default(268_435_456),
  /**
   * Silence after which a call's slot under a limit goes to another call, in milliseconds; the same for all
   * executors.
   */
  LIMIT_LEASE_MS: z.coerce.number().int().min(1_000).max(600_000).default(10_000),
  /** Longest that connecting to a tool server may take, with the listing of its tools, in milliseconds. */
  CONNECT_TIMEOUT_MS: z.coerce.number().int().min(100).max(600_000).default(30_000),
  /** Longest that a plan may take from its first claim, in milliseconds. */
  PLAN_TIMEOUT_MS: z.coerce.number().int().min(1_000).max(604_800_000).default(3_600_000),
  /**
   * Largest timeoutMs of a step where the plan's policy allows less, in milliseconds; the same for the API.
   */
  MAX_STEP_TIMEOUT_MS: z.coerce.number().int().min(1).max(3_600_000).default(600_000),
  /** How long requests that ended are kept, in days. */
  RETENTION_DAYS: RetentionDaysSchema,
  /** Whether shapes of outputs are learned. */
  LEARN_OUTPUTS: z.enum(["on", "off"]).default("on"),
});

/** Settings of the executor, and what its servers file says. */
export interface ExecutorSettings extends z.infer<typeof ExecutorSettingsSchema> {
  servers: ServersConfig;
  /** Where an authorization server sends a person back. */
  signInRedirectUrl: string;
}

/**
 * Reads the settings and the servers file.
 * @throws {CodedError} that names the setting
 */
export async function readExecutorSettings(
  env: NodeJS.ProcessEnv,
  options: RoleOptions = {},
): Promise<ExecutorSettings> {
  const settings = parseRoleSettings(ExecutorSettingsSchema, env, options);
  const publicUrl = settings.PUBLIC_URL ?? `http://127.0.0.1:${env["PORT"]?.trim() || DEFAULT_API_PORT}`;
  return {
    ...settings,
    servers: await loadServersFile(settings.MCP_SERVERS_FILE, env),
    signInRedirectUrl: new URL("sign-in/callback", publicUrl.replace(/\/?$/, "/")).href,
  };
}

/** Where the API listens on the machine of the executor, unless PORT or PUBLIC_URL says otherwise. */
const DEFAULT_API_PORT = 4000;
