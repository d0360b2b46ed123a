import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { CodedError } from "@planwright/plan";

/** The command that makes keys failed. The message is its own. */
export class KeyNotMadeError extends CodedError {
  readonly code = "KEY_NOT_MADE";
  readonly retryable = false;
}

const KEYS = fileURLToPath(new URL("../../../../services/api/dist/bin/keys.js", import.meta.url));

/**
 * Makes a key that may read and make plans, for a day, with the API's own command.
 * @param env - settings of the API: the database, and the tenant of callers without a credential, who owns
 * what this program does
 * @throws {KeyNotMadeError}
 */
export async function makeApiKey(env: NodeJS.ProcessEnv): Promise<string> {
  const tenant = env["TENANT"] || "default";
  const words = [
    "create",
    "--tenant",
    tenant,
    "--scope",
    "read,execute",
    "--name",
    "npm start",
    "--days",
    "1",
  ];
  const child = spawn(process.execPath, [KEYS, ...words], { env, stdio: ["ignore", "pipe", "pipe"] });
  const [key, said, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "exit"),
  ]);
  if (code !== 0) throw new KeyNotMadeError(`No key was made for this program's own requests: ${said}`, {});
  return key.trim();
}
