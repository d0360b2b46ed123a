import { accessSync, constants, mkdirSync } from "node:fs";
import { DataFolderError } from "../errors.ts";

/**
 * Makes a folder for data and logs if it is absent.
 * @param folder - absolute path
 * @throws {DataFolderError} when it is no folder, or may not be written
 */
export function makeDataFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK);
  } catch (error) {
    throw new DataFolderError(folder, error);
  }
}
