import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const BUNDLE = fileURLToPath(new URL("../../../../infra/scripts/bundle.mjs", import.meta.url));

/**
 * Bundles a program from its source as the build does, in a process of its own: tests start hundreds of
 * processes.
 *
 * @param folder - receives the files
 * @param main - source of the program; its code after the imports may use `await`
 * @param args - arguments with which the program ends by itself, in an empty environment; the functions that
 * it uses are cached
 * @returns the argument for Node that starts it
 * @throws {TypeError} when the bundling fails; its messages are on standard error
 */
export async function bundleWithCodeCache(
  folder: string,
  main: string,
  args: readonly string[],
): Promise<string> {
  const endWith = args.map((arg) => `--end-with=${arg}`);
  const child = spawn(process.execPath, [BUNDLE, "--main", main, "--folder", folder, ...endWith], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const [code] = await once(child, "exit");
  if (code !== 0) throw new TypeError(`${main} could not be bundled`);
  return join(folder, "start.cjs");
}
