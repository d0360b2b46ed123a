import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { CodedError } from "@planwright/plan";
import { NotBuiltError, type ServiceName } from "./start-service.ts";

/**
 * A service could not start with its settings. The message comes from the service and says what to change.
 */
export class WrongSettingsError extends CodedError<{ service: string }> {
  readonly code = "WRONG_SETTINGS";
  readonly retryable = false;
}

/** Port of the API without a setting; `planwright` uses it by default. */
export const API_PORT = 4000;

/** The port of the API: `PORT`, default 4000. @throws {WrongSettingsError} unless it is from 1 to 65535 */
export function apiPortOf(env: NodeJS.ProcessEnv): number {
  const text = env["PORT"] || String(API_PORT);
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port >= 1 && port <= 65_535) return port;
  const message = `PORT is "${text}": set it to a whole number from 1 to 65535, or unset it for ${API_PORT}`;
  throw new WrongSettingsError(message, { service: "api" });
}

const SERVICES = new URL("../../../../services/", import.meta.url);

/**
 * Checks in a separate process, which starts nothing, whether a service could start with these settings.
 * @throws {WrongSettingsError} {NotBuiltError}
 */
export async function checkSettings(service: ServiceName, env: NodeJS.ProcessEnv): Promise<void> {
  const program = fileURLToPath(new URL(`${service}/dist/bin/check-settings.js`, SERVICES));
  if (!existsSync(program)) throw new NotBuiltError(service);
  const child = spawn(process.execPath, [program], { env, stdio: ["ignore", "ignore", "pipe"] });
  const message = await text(child.stderr);
  if (message !== "") throw new WrongSettingsError(message.trim(), { service });
}
