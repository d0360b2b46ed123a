import { accessSync, constants, existsSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { DataFolderError } from "./errors.ts";

/**
 * Makes a folder with its parents. One that exists is left as it is. The `recursive` of Node is not used: where
 * the system answers "no such file" although the parent exists, as below /proc, it tries for ever.
 * @throws {Error} the system's error
 */
export function makeFolder(folder: string): void {
  try {
    mkdirSync(folder);
  } catch (error) {
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
    const isParentMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
    if (!isParentMissing || existsSync(dirname(folder))) throw error;
    makeFolder(dirname(folder));
    makeFolder(folder);
  }
}

/**
 * Makes a folder for data and logs if it is absent.
 * @param folder - absolute path
 * @throws {DataFolderError} when it is no folder, or may not be written
 */
export function makeDataFolder(folder: string): void {
  try {
    makeFolder(folder);
    accessSync(folder, constants.W_OK);
  } catch (error) {
    throw new DataFolderError(folder, error);
  }
}
