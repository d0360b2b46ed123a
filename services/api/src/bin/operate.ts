/**
 * The commands of operators that need the database and no running service: `keys` manages API keys, as in
 * `npm run keys -- create --tenant acme --scope read,execute`; `upgrade` converts a database of an earlier format;
 * `storage` says what the database holds; `backup` writes it into a file, and `restore` reads that into an empty one.
 */
import { open, rm } from "node:fs/promises";
import { parseArgs } from "node:util";
import { CodedError, countText, groupBy, numberText, sizeText } from "@planwright/plan";
import { parseSettings, VERSION } from "@planwright/runtime";
import {
  type BackupFacts,
  BackupFileError,
  backupDatabase,
  createStore,
  inspectDatabase,
  inspectStorage,
  type RestoredRequest,
  type RestoreFacts,
  RetentionDaysSchema,
  restoreDatabase,
  STORAGE_AGES,
  STORAGE_ENDS,
  STORAGE_GROUPS,
  type StorageFacts,
  type StorageShare,
} from "@planwright/store";
import { z } from "zod";
import { CommandUsageError, KEYS_HELP, parseKeysCommand, runKeysCommand } from "../access/keys-command.ts";
import { ApiSettingsSchema } from "../env.ts";

const print = (text: string) => void process.stdout.write(`${text}\n`);
const say = (text: string) => void process.stderr.write(`${text}\n`);

function databaseUrl(): string {
  return parseSettings(ApiSettingsSchema.pick({ MONGODB_URL: true }), process.env).MONGODB_URL;
}

async function keys(words: readonly string[]): Promise<void> {
  const command = parseKeysCommand([...words], Date.now());
  if (!command) return say(KEYS_HELP);
  const store = await createStore({ url: databaseUrl() });
  try {
    await runKeysCommand(command, store, { print, say });
  } finally {
    await store.close();
  }
}

/** With --check it only says what would be done. */
async function upgrade(words: readonly string[]): Promise<void> {
  const url = databaseUrl();
  const { found, expected, conversions } = (await inspectDatabase({ url })).format;
  if (conversions.length === 0)
    return print(
      found === null
        ? "Nothing to convert: no Planwright has used the database."
        : `Nothing to convert: the database has format ${found}, as this version writes it.`,
    );
  print(`The database has format ${found}; this version writes format ${expected}. To be converted:`);
  for (const { to, what, left } of conversions)
    print(`  to format ${to}: ${what} (${countText(left, "document")})`);
  if (words.includes("--check")) {
    print(
      "A start does it, or planwright upgrade. Services of the version before may still run; later they do not start on this database.",
    );
    print("To be able to go back, make a backup first:");
    return print("  planwright backup planwright.backup");
  }
  const store = await createStore({
    url,
    onConversion: ({ to, done, left, isElsewhere }) =>
      say(
        isElsewhere
          ? `Another process converts to format ${to}; ${left} left`
          : `Format ${to}: ${done} done, ${left} left`,
      ),
  });
  await store.close();
  print(`Done: the database has format ${expected}.`);
}

/** Writes a file that did not exist, or to standard output. With --json it prints what the file holds. */
async function backup(words: readonly string[]): Promise<void> {
  const { path, json } = readBackupOptions("backup", words);
  const url = databaseUrl();
  const toFile = path !== "-";
  const facts = toFile
    ? await backupToFile(url, path)
    : await backupDatabase({ url }, { to: process.stdout, version: VERSION });
  // Standard output is the file.
  const tell = toFile ? print : say;
  if (json) return tell(JSON.stringify(facts, null, 2));
  tell(`Wrote ${contentText(facts)} as of ${facts.takenAt.toISOString()} to ${toFile ? path : "-"}.`);
}

/** The file is on the disk when this resolves; without a whole backup there is none. @throws {BackupFileError} */
async function backupToFile(url: string, path: string): Promise<BackupFacts> {
  const notOpened = (error: unknown) => {
    const isThere = error instanceof Error && "code" in error && error.code === "EEXIST";
    const problem = isThere ? "it exists already; name another file" : String(error);
    return new BackupFileError({ path, problem }, error);
  };
  // Only for its owner: it has everything that the database has.
  const file = await open(path, "wx", 0o600).catch((error: unknown) => Promise.reject(notOpened(error)));
  try {
    const to = file.createWriteStream({ flush: true });
    return await backupDatabase({ url }, { to, version: VERSION });
  } catch (error) {
    await file.close();
    await rm(path, { force: true });
    throw error;
  }
}

/** With --json it prints everything that was restored, and all requests that wait. */
async function restore(words: readonly string[]): Promise<void> {
  const { path, json } = readBackupOptions("restore", words);
  const facts = await restoreDatabase({ url: databaseUrl() }, { path });
  print(json ? JSON.stringify(facts, null, 2) : restoreLines(facts).join("\n"));
}

function readBackupOptions(command: string, words: readonly string[]): { path: string; json: boolean } {
  try {
    const { values, positionals } = parseArgs({
      args: [...words],
      options: { json: { type: "boolean" } },
      allowPositionals: true,
    });
    const [path] = z.tuple([z.string().min(1)]).parse(positionals);
    return { path, json: values.json ?? false };
  } catch (error) {
    throw new CommandUsageError(`${command} takes the name of one file, and --json`, error);
  }
}

/** Requests that are shown, the oldest first. */
const SHOWN_REQUESTS = 20;

/** What the file holds, in words. */
function contentText({ counts, format }: BackupFacts): string {
  const documents = sum(Object.values(counts));
  return `${countText(counts["requests"] ?? 0, "request")} (${countText(documents, "document")}, format ${format})`;
}

/** For people: nothing acts before it is named, so the names and the command. */
function restoreLines(facts: RestoreFacts): string[] {
  const { paused, notStarted, takenAt } = facts;
  const shown = (some: readonly RestoredRequest[]) => [
    ...some.slice(0, SHOWN_REQUESTS).map(({ requestId, tenant }) => `  ${requestId}  ${tenant}`),
    ...(some.length > SHOWN_REQUESTS
      ? [`  and ${some.length - SHOWN_REQUESTS} more, which --json lists`]
      : []),
  ];
  return [
    `Restored ${contentText(facts)} as of ${takenAt.toISOString()}.`,
    ...(paused.length > 0
      ? [
          `${countText(paused.length, "request")} had not ended: paused, because calls after the backup are not known here. Look at each, then planwright resume or cancel it:`,
          ...shown(paused),
        ]
      : []),
    ...(notStarted.length > 0
      ? [
          `${countText(notStarted.length, "request")} had no plan yet: planned when the services start, but not started. planwright execute starts one:`,
          ...shown(notStarted),
        ]
      : []),
  ];
}

/** With --json it prints the figures, else tables; --scan-ms limits the scans. */
async function storage(words: readonly string[]): Promise<void> {
  const { "scan-ms": scanMs, json } = readStorageOptions(words);
  const { MONGODB_URL: url, RETENTION_DAYS: retentionDays } = parseSettings(
    ApiSettingsSchema.pick({ MONGODB_URL: true }).extend({ RETENTION_DAYS: RetentionDaysSchema }),
    process.env,
  );
  const facts = await inspectStorage({
    url,
    retentionDays,
    ...(scanMs !== undefined && { scanMs }),
  });
  print(json ? JSON.stringify(facts, null, 2) : storageLines(facts).join("\n"));
}

const StorageOptionsSchema = z.object({
  json: z.boolean().optional(),
  "scan-ms": z.coerce.number().int().min(0).max(604_800_000).optional(),
});

/** @throws {CommandUsageError} */
function readStorageOptions(words: readonly string[]): z.infer<typeof StorageOptionsSchema> {
  try {
    const options = { json: { type: "boolean" }, "scan-ms": { type: "string" } } as const;
    return StorageOptionsSchema.parse(parseArgs({ args: [...words], options }).values);
  } catch (error) {
    throw new CommandUsageError(
      "storage takes --json, and --scan-ms from 0 to 604800000 (milliseconds)",
      error,
    );
  }
}

/** Tenants that are shown, the largest first. */
const SHOWN_TENANTS = 20;

/** Words for when retention removes something. */
const END_WORDS: Readonly<Record<StorageShare["freed"], string>> = {
  now: "with the next round",
  day: "within a day",
  week: "within 7 days",
  month: "within 30 days",
  later: "later",
  unfinished: "not before it has ended",
  never: "never",
};

/** The tables for people. */
function storageLines(facts: StorageFacts): string[] {
  const { database, measuredAt, collections, shares } = facts;
  if (collections.length === 0) return [`Database ${database} is empty: no Planwright has used it.`];
  const sizes = (some: StorageFacts["collections"]) => [
    numberText(sum(some.map(({ documents }) => documents))),
    sizeText(sum(some.map(({ dataBytes }) => dataBytes))),
    sizeText(sum(some.map(({ fileBytes }) => fileBytes))),
    sizeText(sum(some.map(({ freeBytes }) => freeBytes))),
    sizeText(sum(some.map(({ indexBytes }) => indexBytes))),
  ];
  const groups = STORAGE_GROUPS.map((name) => ({
    name,
    members: collections.filter(({ group }) => group === name),
  })).filter(({ members }) => members.length > 0);
  const named = (state: StorageFacts["collections"][number]["shares"]) =>
    collections.filter((stored) => stored.shares === state).map(({ name }) => name);
  const estimated = named("estimated");
  const unmeasured = named("unmeasured");
  const notes = [
    "DATA is without compression. Removed data becomes free space in the files, which new data uses.",
    estimated.length > 0 && `Tenants and times are estimated from a sample of ${estimated.join(", ")}.`,
    unmeasured.length > 0 &&
      `The time was over: tenants and times are without ${unmeasured.join(", ")}. --timeout SECONDS gives more.`,
  ];
  return [
    `Database ${database} at ${measuredAt.toISOString()}`,
    "",
    ...tableLines([
      ["RECORDS", "DOCUMENTS", "DATA", "FILES", "FREE IN FILES", "INDEXES"],
      ...groups.map(({ name, members }) => [name, ...sizes(members)]),
      ["all", ...sizes(collections)],
    ]),
    "",
    ...(shares.length > 0 ? shareLines(facts) : []),
    ...notes.filter((note) => note !== false),
  ];
}

/** The tables of tenants, and of what retention removes. */
function shareLines({ retentionDays, shares }: StorageFacts): string[] {
  const requestsOf = (some: readonly StorageShare[]) =>
    numberText(
      sum(some.filter(({ collection }) => collection === "requests").map((share) => share.documents)),
    );
  const dataOf = (some: readonly StorageShare[]) => sum(some.map(({ dataBytes }) => dataBytes));
  const tenants = [...groupBy(shares, ({ tenant }) => tenant)].toSorted(
    ([, one], [, other]) => dataOf(other) - dataOf(one),
  );
  const ends = STORAGE_ENDS.map((end) => ({ end, some: shares.filter(({ freed }) => freed === end) }));
  return [
    "Data of requests by tenant and by the time since the last change:",
    ...tableLines([
      ["TENANT", "REQUESTS", "0-1 DAY", "1-7 DAYS", "7-30 DAYS", "OLDER", "ALL"],
      ...[...tenants.slice(0, SHOWN_TENANTS), ["all", shares] as const].map(([name, some]) => [
        name,
        requestsOf(some),
        ...STORAGE_AGES.map((wanted) => sizeText(dataOf(some.filter(({ age }) => age === wanted)))),
        sizeText(dataOf(some)),
      ]),
    ]),
    ...(tenants.length > SHOWN_TENANTS
      ? [`${tenants.length - SHOWN_TENANTS} smaller tenants are not shown; --json has all.`]
      : []),
    "",
    retentionDays === "never"
      ? "Retention (RETENTION_DAYS never) keeps requests forever:"
      : `Retention removes requests ${countText(retentionDays, "day")} after their last change (RETENTION_DAYS):`,
    ...tableLines([
      ["WHEN", "REQUESTS", "DATA"],
      ...ends
        .filter(({ some }) => some.length > 0)
        .map(({ end, some }) => [END_WORDS[end], requestsOf(some), sizeText(dataOf(some))]),
    ]),
    "",
  ];
}

/** Rows under their head; all columns but the first are numbers. */
function tableLines(rows: readonly string[][]): string[] {
  const width = (column: number): number => Math.max(...rows.map((row) => row[column]?.length ?? 0));
  return rows.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(width(column)) : cell.padStart(width(column))))
      .join("  "),
  );
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

const COMMANDS = new Map(Object.entries({ keys, upgrade, storage, backup, restore }));

const [command = "", ...words] = process.argv.slice(2);
try {
  await (COMMANDS.get(command) ?? keys)(words);
} catch (error) {
  if (!(error instanceof CodedError)) throw error;
  say(`${error.message}${command === "keys" ? "\nWithout arguments, keys shows how it is used." : ""}`);
  process.exitCode = 1;
}
