import { cp, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundleWithCodeCache } from "./bundle-with-code-cache.ts";

const CLI = fileURLToPath(new URL("../../../cli/", import.meta.url));

/**
 * Builds the package of the command `planwright` from its source, in one file, because tests run the command
 * hundreds of times.
 *
 * @param folder - receives the package, and in `.bin` the command as npm links it
 * @returns the folder
 */
export async function bundleProgram(folder: string): Promise<string> {
  const parts = ["bin", "package.json"];
  await Promise.all(parts.map((part) => cp(join(CLI, part), join(folder, part), { recursive: true })));
  await bundleWithCodeCache(join(folder, "dist"), join(CLI, "src/main.ts"), ["--version"]);
  await writeFile(join(folder, "dist/main.js"), 'import "./start.cjs";\n');
  await mkdir(join(folder, ".bin"));
  await symlink("../bin/planwright.js", join(folder, ".bin/planwright"));
  return folder;
}
