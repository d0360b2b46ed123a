import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * The path of a file or folder that an installed package has. In the npm package `planwright`, which has the
 * program in one file, it is a copy in the folder `files` beside that.
 * @param importer - URL of the module that needs it
 * @param name - of a package whose exports have its package.json
 * @throws {Error} the system's, when there is no such package
 */
export function packageFile(importer: string, name: string, path: string): string {
  const copy = fileURLToPath(new URL(`./files/${name}/${path}`, importer));
  if (existsSync(copy)) return copy;
  return join(dirname(createRequire(importer).resolve(`${name}/package.json`)), path);
}
