import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Plugin, rolldown } from "rolldown";

/** The end of an import: imports of our sources are at the beginning of a module, one after the other. */
const IMPORT = /^(?:import\b.*|\}) from ".*";$/gm;

/**
 * Options of V8 with which tests and the local stack start programs. With other options the bundle is
 * compiled as without a cache.
 */
const V8_OPTIONS: readonly (readonly string[])[] = [[], ["--max-semi-space-size=32"]];

/**
 * Loads a bundle with V8's code cache, which Node itself can do from version 22.8. The first run that ends by
 * itself writes the cache, with all functions that were compiled until then.
 */
const LOADER = `
const { existsSync, readFileSync, writeFileSync } = require("node:fs");
const { createRequire, wrap } = require("node:module");
const { cachedDataVersionTag } = require("node:v8");
const { Script } = require("node:vm");
const filename = require("node:path").join(__dirname, "bundle.cjs");
// The tag tells apart the options of V8, which a cache must have been written under.
const cache = filename + "." + cachedDataVersionTag() + ".cache";
const cachedData = existsSync(cache) ? readFileSync(cache) : undefined;
const script = new Script(wrap(readFileSync(filename, "utf8")), { filename, cachedData });
if (!cachedData && process.env.WRITE_CODE_CACHE)
  process.once("exit", () => writeFileSync(cache, script.createCachedData()));
const bundle = { exports: {} };
script.runInThisContext().call(bundle.exports, bundle.exports, createRequire(filename), bundle, filename, __dirname);
`;

/**
 * Bundles a program from its source, with everything that it imports, and stores it with its compiled code.
 * Node starts it with half of the processor time that the sources in one file need, and tests start hundreds
 * of processes.
 *
 * @param folder - receives the files
 * @param main - source of the program; its code after the imports may use `await`
 * @param args - arguments with which the program ends by itself, in an empty environment; the functions that
 * it uses are cached
 * @returns the argument for Node that starts it
 */
export async function bundleWithCodeCache(
  folder: string,
  main: string,
  args: readonly string[],
): Promise<string> {
  const bundle = await rolldown({
    input: { bundle: main },
    platform: "node",
    resolve: { conditionNames: ["@planwright/source", "node"] },
    plugins: [awaitInFunction(main)],
    // Libraries use features that bundlers warn of: eval, optional modules that are not installed.
    logLevel: "silent",
  });
  await bundle.write({
    dir: folder,
    format: "cjs",
    entryFileNames: "[name].cjs",
    codeSplitting: false,
    // A script with a code cache cannot import.
    dynamicImportInCjs: false,
  });
  await bundle.close();
  const start = join(folder, "start.cjs");
  await writeFile(start, LOADER);
  for (const options of V8_OPTIONS) {
    const env = { PATH: process.env["PATH"] ?? "", WRITE_CODE_CACHE: "1" };
    await once(spawn(process.execPath, [...options, start, ...args], { env, stdio: "ignore" }), "exit");
  }
  return start;
}

/** CommonJS has no `await` outside of functions, so the code of the main module is moved into a function. */
function awaitInFunction(main: string): Plugin {
  return {
    name: "await-in-function",
    transform: (code, id) => {
      if (id !== main) return null;
      const last = [...code.matchAll(IMPORT)].at(-1);
      const end = last ? last.index + last[0].length : 0;
      return { code: `${code.slice(0, end)}\n(async () => {${code.slice(end)}\n})();\n`, map: null };
    },
  };
}
