/**
 * The commands of operators that need the database and no running service: `keys` manages API keys, as in
 * `npm run keys -- create --tenant acme --scope read,execute`; `upgrade` converts a database of an earlier format.
 */
import { CodedError, countText } from "@planwright/plan";
import { parseSettings } from "@planwright/runtime";
import { createStore, inspectDatabase } from "@planwright/store";
import { KEYS_HELP, parseKeysCommand, runKeysCommand } from "../access/keys-command.ts";
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
    return print(`  mongodump --uri "$MONGODB_URL" --archive --gzip > planwright.archive.gz`);
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

const [command = "", ...words] = process.argv.slice(2);
try {
  await (command === "upgrade" ? upgrade(words) : keys(words));
} catch (error) {
  if (!(error instanceof CodedError)) throw error;
  say(`${error.message}${command === "keys" ? "\nWithout arguments, keys shows how it is used." : ""}`);
  process.exitCode = 1;
}
