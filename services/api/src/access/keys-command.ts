import { parseArgs } from "node:util";
import { CodedError } from "@planwright/plan";
import { type AccessStore, type ApiKey, type NewApiKey, NewApiKeySchema } from "@planwright/store";
import { z } from "zod";

/** Usage of the command. */
export const KEYS_HELP = `Creates, lists and revokes keys of the API. MONGODB_URL names the database.

  keys create --tenant acme --scope read,execute [--name ci] [--days 90]
  keys list [--tenant acme]
  keys revoke key_...

Scopes: read (look), execute (make and start plans), operate (cancel, approve, rerun, metrics), admin (all scopes).
Only create prints the key itself, once, on standard output: it cannot be read again.
`;

/** One call of the command. */
export type KeysCommand =
  | { do: "create"; key: NewApiKey }
  | { do: "list"; tenant: string | undefined }
  | { do: "revoke"; id: string };

/** The arguments of the command are wrong. */
export class KeysUsageError extends CodedError {
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
 * @throws {KeysUsageError}
 */
export function parseKeysCommand(args: readonly string[], nowMs: number): KeysCommand | undefined {
  const { values, positionals } = readArguments(args);
  const [verb, id, ...others] = positionals;
  if (values.help || verb === undefined) return undefined;
  if (others.length > 0) throw new KeysUsageError(`Unexpected argument: ${others[0]}`);
  const { tenant } = values;
  switch (verb) {
    case "create": {
      if (tenant === undefined || values.scope === undefined) {
        throw new KeysUsageError("create needs --tenant and --scope");
      }
      const days = DaysSchema.safeParse(values.days);
      if (!days.success) throw new KeysUsageError("--days needs a whole number from 1 to 3650");
      const key = NewApiKeySchema.safeParse({
        tenant,
        name: values.name ?? tenant,
        scopes: values.scope.flatMap((scopes) => scopes.split(",").map((scope) => scope.trim())),
        expiresAt: days.data === undefined ? undefined : new Date(nowMs + days.data * DAY_MS),
      });
      if (key.success) return { do: "create", key: key.data };
      throw new KeysUsageError(key.error.issues.map(issueText).join("\n"), key.error);
    }
    case "list":
      return { do: "list", tenant };
    case "revoke":
      if (id === undefined) throw new KeysUsageError("revoke needs the id of a key; list shows the ids");
      return { do: "revoke", id };
    default:
      throw new KeysUsageError(`Unknown command ${verb}: use create, list or revoke`);
  }
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
        help: { type: "boolean", short: "h" },
      },
    });
  } catch (error) {
    throw new KeysUsageError(error instanceof Error ? error.message : "The options cannot be read", error);
  }
}

const OPTION: Readonly<Record<string, string>> = { scopes: "--scope", tenant: "--tenant", name: "--name" };

function issueText({ path: [field], message }: z.core.$ZodIssue): string {
  return `${OPTION[String(field)] ?? String(field)}: ${message}`;
}

/** Where the command writes. */
export interface KeysOutput {
  /** Output for scripts. */
  print: (text: string) => void;
  /** Output for people. */
  say: (text: string) => void;
}

/** Runs the command. @throws {KeysUsageError} for an unknown key */
export async function runKeysCommand(
  command: KeysCommand,
  store: AccessStore,
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
    case "revoke": {
      const key = await store.revokeApiKey(command.id);
      if (!key) throw new KeysUsageError(`There is no key ${command.id}: list shows the keys`);
      return say(`Revoked ${lineOf(key)}\nServices stop accepting it within 5 s.`);
    }
  }
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
