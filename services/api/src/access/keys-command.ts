import { parseArgs } from "node:util";
import { CodedError } from "@planwright/plan";
import {
  type AccessStore,
  type ApiKey,
  type NewApiKey,
  NewApiKeySchema,
  type TenantChanges,
  TenantChangesSchema,
  type TenantLimits,
  TenantSchema,
  type TenantStore,
} from "@planwright/store";
import { z } from "zod";

/** Usage of the command. */
export const KEYS_HELP = `Creates, lists and revokes keys of the API, and sets limits of tenants. MONGODB_URL names the database.

  keys create --tenant acme --scope read,execute [--name ci] [--days 90]
  keys list [--tenant acme]
  keys revoke key_...
  keys tenant list
  keys tenant show acme
  keys tenant set acme [--max-unfinished-plans 5000] [--max-subscriptions 500] [--max-connections 50]
                       [--max-model-calls-per-hour 200] [--weight 2]

A limit "default" is that of the settings again. Services use new limits within 5 s, new weights within 10 s.

Scopes: read (look), execute (make and start plans), operate (cancel, approve, rerun, metrics), admin (all scopes).
Only create prints the key itself, once, on standard output: it cannot be read again.
`;

/** One call of the command. */
type KeysCommand =
  | { do: "create"; key: NewApiKey }
  | { do: "list"; tenant: string | undefined }
  | { do: "revoke"; id: string }
  | { do: "list tenants" }
  | { do: "show tenant"; tenant: string }
  | { do: "set tenant"; tenant: string; changes: TenantChanges };

/** The arguments of a command for operators are wrong. */
export class CommandUsageError extends CodedError {
  readonly code = "USAGE";
  readonly retryable = false;
  constructor(message: string, cause?: unknown) {
    super(message, {}, { cause });
  }
}

const DAY_MS = 86_400_000;
const DaysSchema = z.coerce.number().int().min(1).max(3_650).optional();

/**
 * Parses the arguments of the command; undefined when they ask for help.
 * @param nowMs - Unix milliseconds, the time from which the days of a key are counted
 * @throws {CommandUsageError}
 */
export function parseKeysCommand(args: readonly string[], nowMs: number): KeysCommand | undefined {
  const { values, positionals } = readArguments(args);
  const [verb, id, ...others] = positionals;
  if (values.help || verb === undefined) return undefined;
  if (verb === "tenant") return parseTenantCommand(positionals.slice(1), values);
  if (others.length > 0) throw new CommandUsageError(`Unexpected argument: ${others[0]}`);
  const { tenant } = values;
  switch (verb) {
    case "create": {
      if (tenant === undefined || values.scope === undefined) {
        throw new CommandUsageError("create needs --tenant and --scope");
      }
      const days = DaysSchema.safeParse(values.days);
      if (!days.success) throw new CommandUsageError("--days needs a whole number from 1 to 3650");
      const key = NewApiKeySchema.safeParse({
        tenant,
        name: values.name ?? tenant,
        scopes: values.scope.flatMap((scopes) => scopes.split(",").map((scope) => scope.trim())),
        expiresAt: days.data === undefined ? undefined : new Date(nowMs + days.data * DAY_MS),
      });
      if (key.success) return { do: "create", key: key.data };
      throw new CommandUsageError(key.error.issues.map(issueText).join("\n"), key.error);
    }
    case "list":
      return { do: "list", tenant };
    case "revoke":
      if (id === undefined) throw new CommandUsageError("revoke needs the id of a key; list shows the ids");
      return { do: "revoke", id };
    default:
      throw new CommandUsageError(`Unknown command ${verb}: use create, list, revoke or tenant`);
  }
}

/** The options of limits, by the field that they set. */
const LIMIT_OPTIONS = {
  maxUnfinishedPlans: "max-unfinished-plans",
  maxSubscriptions: "max-subscriptions",
  maxConnections: "max-connections",
  maxModelCallsPerHour: "max-model-calls-per-hour",
  weight: "weight",
} as const satisfies Record<keyof TenantLimits, string>;

/** @throws {CommandUsageError} */
function parseTenantCommand(
  [verb, name, ...others]: readonly string[],
  values: ReturnType<typeof readArguments>["values"],
): KeysCommand {
  if (others.length > 0) throw new CommandUsageError(`Unexpected argument: ${others[0]}`);
  if (verb === "list") return { do: "list tenants" };
  if (verb !== "show" && verb !== "set")
    throw new CommandUsageError(`Unknown command tenant ${verb ?? ""}: use tenant list, show or set`);
  const tenant = TenantSchema.safeParse(name);
  if (!tenant.success) throw new CommandUsageError(`tenant ${verb} needs the name of a tenant`, tenant.error);
  if (verb === "show") return { do: "show tenant", tenant: tenant.data };
  const given = Object.entries(LIMIT_OPTIONS).flatMap(([field, option]) => {
    const text = values[option];
    return text === undefined ? [] : [[field, text === "default" ? null : Number(text || Number.NaN)]];
  });
  if (given.length === 0) throw new CommandUsageError("tenant set needs at least one limit");
  const changes = TenantChangesSchema.safeParse(Object.fromEntries(given));
  if (changes.success) return { do: "set tenant", tenant: tenant.data, changes: changes.data };
  throw new CommandUsageError(changes.error.issues.map(issueText).join("\n"), changes.error);
}

function readArguments(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        tenant: { type: "string" },
        scope: { type: "string", multiple: true },
        name: { type: "string" },
        days: { type: "string" },
        "max-unfinished-plans": { type: "string" },
        "max-subscriptions": { type: "string" },
        "max-connections": { type: "string" },
        "max-model-calls-per-hour": { type: "string" },
        weight: { type: "string" },
        help: { type: "boolean", short: "h" },
      },
    });
  } catch (error) {
    throw new CommandUsageError(error instanceof Error ? error.message : "The options cannot be read", error);
  }
}

const OPTION: Readonly<Record<string, string>> = {
  scopes: "--scope",
  tenant: "--tenant",
  name: "--name",
  ...Object.fromEntries(Object.entries(LIMIT_OPTIONS).map(([field, option]) => [field, `--${option}`])),
};

function issueText({ path: [field], message }: z.core.$ZodIssue): string {
  return `${OPTION[String(field)] ?? String(field)}: ${message}`;
}

/** Where the command writes. */
interface KeysOutput {
  /** Output for scripts. */
  print: (text: string) => void;
  /** Output for people. */
  say: (text: string) => void;
}

/** Runs the command. @throws {CommandUsageError} for an unknown key */
export async function runKeysCommand(
  command: KeysCommand,
  store: AccessStore & TenantStore,
  { print, say }: KeysOutput,
): Promise<void> {
  switch (command.do) {
    case "create": {
      const { secret, key } = await store.createApiKey(command.key);
      say(`Made ${lineOf(key)}\nStore the key now: it is shown only once and is stored nowhere.`);
      return print(secret);
    }
    case "list": {
      const keys = await store.listApiKeys(command.tenant);
      if (keys.length === 0) say("There are no keys.");
      for (const key of keys) print(lineOf(key));
      return;
    }
    case "list tenants": {
      const tenants = await store.listTenants();
      if (tenants.length === 0) say("There are no tenants.");
      for (const { tenant, ...limits } of tenants) print(limitsLine(tenant, limits));
      return;
    }
    case "show tenant":
      return print(limitsLine(command.tenant, await store.readTenantLimits(command.tenant)));
    case "set tenant":
      return print(limitsLine(command.tenant, await store.setTenantLimits(command.tenant, command.changes)));
    case "revoke": {
      const key = await store.revokeApiKey(command.id);
      if (!key) throw new CommandUsageError(`There is no key ${command.id}: list shows the keys`);
      return say(`Revoked ${lineOf(key)}\nServices stop accepting it within 5 s.`);
    }
  }
}

function limitsLine(tenant: string, limits: TenantLimits): string {
  const shown = Object.entries(LIMIT_OPTIONS).map(
    ([field, option]) => `${option} ${limits[field as keyof TenantLimits] ?? "default"}`,
  );
  return [tenant, ...shown].join("  ");
}

function lineOf({ _id, tenant, name, scopes, createdAt, lastUsedAt, expiresAt, revokedAt }: ApiKey): string {
  const day = (date: Date): string => date.toISOString().slice(0, 10);
  const end = revokedAt
    ? `revoked ${day(revokedAt)}`
    : expiresAt
      ? `expires ${day(expiresAt)}`
      : "does not expire";
  const used = lastUsedAt ? `used ${day(lastUsedAt)}` : "never used";
  return [_id, tenant, scopes.join(","), `made ${day(createdAt)}`, used, end, name].join("  ");
}
