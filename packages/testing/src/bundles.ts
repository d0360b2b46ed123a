import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, statSync } from "node:fs";
import { cp, readdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
/**
 * Arguments with which a program ends by itself. Services end without settings; the tools need no settings, so
 * their script is invalid JSON; the commands of operators print their help.
 */
const ARGS_TO_END: Partial<Record<BundledService, readonly string[]>> = {
  "counting-tools": ["--script", "none"],
  operate: ["keys", "--help"],
};

/**
 * Bundles a service from its source, because tests that kill processes start hundreds of them. What the build has
 * made of the same sources is taken as it is.
 *
 * @param folder - receives the files
 * @returns the argument for Node that starts it
 */
export async function bundleService(service: BundledService, folder: string): Promise<string> {
  const main = join(ROOT, SERVICE_MAINS[service]);
  const built = main
    .replace(/src[\\/]main\.ts$/, join("dist", "start.cjs"))
    .replace(/src[\\/]bin[\\/]operate\.ts$/, join("dist", "operate", "start.cjs"));
  if (built !== main && isNewest(built)) return built;
  return bundleWithCodeCache(folder, main, ARGS_TO_END[service] ?? [], { isSmall: service === "blog-tools" });
}

/** True for a file that was written after every source, and after the last time that one was added or removed. */
function isNewest(file: string): boolean {
  if (!existsSync(file)) return false;
  const at = statSync(file).mtimeMs;
  const folders = ["packages", "services"].flatMap((top) =>
    readdirSync(join(ROOT, top)).map((name) => join(ROOT, top, name, "src")),
  );
  const sources = [...folders, join(ROOT, "infra", "scripts")].filter((folder) => existsSync(folder));
  const inside = sources.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" }).map((path) => join(folder, path)),
  );
  return [join(ROOT, "package-lock.json"), ...sources, ...inside].every(
    (path) => statSync(path).mtimeMs < at,
  );
}

const BUNDLE = fileURLToPath(new URL("../../../infra/scripts/bundle.mjs", import.meta.url));

/**
 * Bundles a program from its source as the build does, in a process of its own: tests start hundreds of
 * processes.
 *
 * @param folder - receives the files
 * @param main - source of the program; its code after the imports may use `await`
 * @param args - arguments with which the program ends by itself, in an empty environment; the functions that
 * it uses are cached
 * @param options - `isSmall`: also for a start with a small young generation
 * @returns the argument for Node that starts it
 * @throws {TypeError} when the bundling fails; its messages are on standard error
 */
export async function bundleWithCodeCache(
  folder: string,
  main: string,
  args: readonly string[],
  { isSmall = false } = {},
): Promise<string> {
  const options = [...args.map((arg) => `--end-with=${arg}`), ...(isSmall ? ["--small"] : [])];
  const child = spawn(process.execPath, [BUNDLE, "--main", main, "--folder", folder, ...options], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const [code] = await once(child, "exit");
  if (code !== 0) throw new TypeError(`${main} could not be bundled`);
  return join(folder, "start.cjs");
}

const CLI = fileURLToPath(new URL("../../cli/", import.meta.url));

/**
 * Builds the package of the command `planwright` from its source, in one file, because tests run the command
 * hundreds of times. What the build has made of the same sources is copied.
 *
 * @param folder - receives the package
 * @returns the folder
 */
export async function bundleProgram(folder: string): Promise<string> {
  const parts = ["bin", "package.json"];
  await Promise.all(parts.map((part) => cp(join(CLI, part), join(folder, part), { recursive: true })));
  const [built, dist] = [join(CLI, "dist"), join(folder, "dist")];
  if (isNewest(join(built, "start.cjs"))) {
    const program = (await readdir(built)).filter((file) => /^(?:start|bundle)\.cjs/.test(file));
    await Promise.all(program.map((file) => cp(join(built, file), join(dist, file))));
  } else await bundleWithCodeCache(dist, join(CLI, "src/main.ts"), ["--version"]);
  await writeFile(join(folder, "dist/main.js"), 'import "./start.cjs";\n');
  // The built services are where the published package has them.
  await symlink(join(ROOT, "services"), join(folder, "services"));
  return folder;
}

/**
 * The programs that tests start as separate processes: the services, the counting tool server, and the commands of
 * operators. And the roles of the services for the process of a test. Each has its source, from the root of the repository.
 */
export const SERVICE_MAINS = {
  api: "services/api/src/main.ts",
  "blog-tools": "services/blog-tools/src/main.ts",
  executor: "services/executor/src/main.ts",
  planner: "services/planner/src/main.ts",
  planwright: "services/planwright/src/main.ts",
  "counting-tools": "packages/testing/src/counting-tool-server/main.ts",
  operate: "services/api/src/bin/operate.ts",
  "in-process": "services/planwright/test/in-process.ts",
} as const;
export type BundledService = keyof typeof SERVICE_MAINS;
