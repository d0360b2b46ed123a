import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";

/** The absolute path of the first of these commands that is on the PATH. */
export function onPath(names: readonly string[], path = process.env["PATH"] ?? ""): string | undefined {
  const folders = path.split(delimiter).filter((folder) => folder !== "");
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
