import { spawnSync } from "node:child_process";
import { operateProgram } from "../start-service.ts";
import { printError } from "./program.ts";

/** The commands of the program. */
type OperateCommand = "keys" | "upgrade" | "storage" | "backup" | "restore";

/**
 * Runs a command on the database of `MONGODB_URL` with the program of the API, which needs no running service: `keys`
 * makes, lists and revokes API keys; `upgrade` converts a database of an earlier format; `storage` says what the
 * database holds; `backup` and `restore` write and read it as one file. Sets the exit code of this process to that of
 * the program.
 * @param words - arguments of the command, such as `["list", "--tenant", "acme"]`
 */
export function operate(command: OperateCommand, words: readonly string[]): void {
  try {
    process.exitCode =
      spawnSync(process.execPath, [operateProgram(), command, ...words], { stdio: "inherit" }).status ?? 1;
  } catch (error) {
    printError(error);
    process.exitCode = 1;
  }
}
