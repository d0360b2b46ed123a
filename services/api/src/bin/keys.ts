/**
 * The command that manages API keys, for operators: `npm run keys -- create --tenant acme --scope
 * read,execute`.
 */
import { CodedError } from "@planwright/plan";
import { parseSettings } from "@planwright/runtime";
import { createStore } from "@planwright/store";
import { KEYS_HELP, parseKeysCommand, runKeysCommand } from "../access/keys-command.ts";
import { ApiSettingsSchema } from "../env.ts";

const print = (text: string) => void process.stdout.write(`${text}\n`);
const say = (text: string) => void process.stderr.write(`${text}\n`);

try {
  const command = parseKeysCommand(process.argv.slice(2), Date.now());
  if (command) {
    const { MONGODB_URL: url } = parseSettings(ApiSettingsSchema.pick({ MONGODB_URL: true }), process.env);
    const store = await createStore({ url });
    try {
      await runKeysCommand(command, store, { print, say });
    } finally {
      await store.close();
    }
  } else {
    say(KEYS_HELP);
  }
} catch (error) {
  if (!(error instanceof CodedError)) throw error;
  say(`${error.message}\nWithout arguments, keys shows how it is used.`);
  process.exitCode = 1;
}
