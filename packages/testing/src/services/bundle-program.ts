import { cp, mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const CLI = fileURLToPath(new URL("../../../cli/", import.meta.url));

/**
 * Makes the package of the command `planwright` again, from its source and in one file, which Node loads in a
 * quarter of the time that its hundreds of files take: tests run the command hundreds of times.
 *
 * @param folder - gets the package, and in `.bin` the command as npm links it
 * @returns the folder
 */
export async function bundleProgram(folder: string): Promise<string> {
  const bundle = await rolldown({
    input: { main: join(CLI, "src/main.ts") },
    platform: "node",
    resolve: { conditionNames: ["@planwright/source", "node"] },
    logLevel: "silent",
  });
  await bundle.write({ dir: join(folder, "dist"), format: "esm", entryFileNames: "[name].js" });
  await bundle.close();
  await Promise.all(
    ["bin", "package.json"].map((part) => cp(join(CLI, part), join(folder, part), { recursive: true })),
  );
  await mkdir(join(folder, ".bin"));
  await symlink("../bin/planwright.js", join(folder, ".bin/planwright"));
  return folder;
}
