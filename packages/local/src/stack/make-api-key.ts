import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { CodedError } from "@planwright/plan";

/** The command that makes keys failed. The message contains its output. */
export class KeyNotMadeError extends CodedError {
  readonly code = "KEY_NOT_MADE";
  readonly retryable = false;
}

const KEYS = fileURLToPath(new URL("../../../../services/api/dist/bin/keys.js", import.meta.url));

/**
 * Makes a key with the scopes read and execute, for a day, with the command of the API.
 * @param env - settings of the API: the database, and the tenant, which owns the requests of this program
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
  const [key, errors, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "exit"),
  ]);
  if (code !== 0) throw new KeyNotMadeError(`No key was made for this program's own requests: ${errors}`, {});
  return key.trim();
}
