// node infra/scripts/bundle.mjs [--main src/main.ts] [--folder dist] [--entry dist/main.js] [--end-with ARG]...
//
// Bundles a program of this repository from its source, with everything that it imports, and stores it with its
// compiled code: Node starts it in a quarter of the processor time that single modules need. Writes the bundle
// and `start.cjs`, which loads it, into the folder, and a module that starts it as the entry.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { rolldown } from "rolldown";

const { values } = parseArgs({
  options: {
    main: { type: "string", default: "src/main.ts" },
    folder: { type: "string", default: "dist" },
    entry: { type: "string" },
    // Arguments with which the program ends by itself, in an empty environment; the functions that it uses until
    // then are stored compiled.
    "end-with": { type: "string", multiple: true, default: [] },
  },
});
const main = resolve(values.main);
const folder = resolve(values.folder);

/** The end of an import: imports of our sources are at the beginning of a module, one after the other. */
const IMPORT = /^(?:import\b.*|\}) from ".*";$/gm;
/**
 * Options of V8 with which programs are started here and in images. With other options the bundle is compiled
 * as without a cache.
 */
const V8_OPTIONS = [[], ["--max-semi-space-size=32"]];

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

/** CommonJS has no `await` outside of functions, so the code of the main module is moved into a function. */
const awaitInFunction = {
  name: "await-in-function",
  transform(code, id) {
    if (id !== main) return null;
    const last = [...code.matchAll(IMPORT)].at(-1);
    const end = last ? last.index + last[0].length : 0;
    return { code: `${code.slice(0, end)}\n(async () => {${code.slice(end)}\n})();\n`, map: null };
  },
};

const bundle = await rolldown({
  input: { bundle: main },
  platform: "node",
  resolve: { conditionNames: ["@planwright/source", "node"] },
  plugins: [awaitInFunction],
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
writeFileSync(start, LOADER);
for (const options of V8_OPTIONS) {
  const env = { PATH: process.env.PATH ?? "", WRITE_CODE_CACHE: "1" };
  spawnSync(process.execPath, [...options, start, ...values["end-with"]], {
    env,
    stdio: "ignore",
    timeout: 60_000,
  });
}
if (values.entry !== undefined) {
  const entry = resolve(values.entry);
  const path = relative(dirname(entry), start).replaceAll("\\", "/");
  writeFileSync(entry, `import "${path.startsWith(".") ? path : `./${path}`}";\n`);
}
