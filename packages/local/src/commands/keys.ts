import { spawnSync } from "node:child_process";
import { keysProgram } from "../start-service.ts";
import { printError } from "./program.ts";

/**
 * `planwright keys`: makes, lists and revokes API keys with the program of the API, which needs `MONGODB_URL`.
 * Sets the exit code of this process to that of the program.
 * @param words - arguments of the program, such as `["list", "--tenant", "acme"]`
 */
export function keys(words: readonly string[]): void {
  try {
    process.exitCode =
      spawnSync(process.execPath, [keysProgram(), ...words], { stdio: "inherit" }).status ?? 1;
  } catch (error) {
    printError(error);
    process.exitCode = 1;
  }
}
