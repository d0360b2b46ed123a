// Makes one file of a program of this repository, from its source and with everything that it imports, and
// stores it with its compiled code.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import module from "node:module";
import { dirname, join } from "node:path";
import { rolldown } from "rolldown";

/** The end of an import: imports of our sources are at the beginning of a module, one after the other. */
const IMPORT = /^(?:import\b.*|\}) from ".*";$/gm;
/**
 * Options of V8 with which programs are started here and in images. With other options a bundle is compiled
 * as without a cache.
 */
const V8_OPTIONS = [[], ["--max-semi-space-size=32"]];
/** A program that has little to do is started so: its young generation stays small. */
const SMALL_OPTIONS = ["--max-semi-space-size=2"];

/**
 * Loads a bundle with V8's code cache, which Node itself can do from version 22.8. The first run that ends by
 * itself writes the cache, with all functions that were compiled until then.
 *
 * @param hash - of the bundle. V8 itself compares only the length of the source, so the cache of an earlier
 * build could be used with another bundle.
 * @param encoding - a text of ASCII alone is read as latin1: it is not decoded, and takes half of the memory
 */
const loaderOf = (hash, encoding) => `
const { existsSync, readFileSync, writeFileSync } = require("node:fs");
const { createRequire } = require("node:module");
const { cachedDataVersionTag } = require("node:v8");
const { Script } = require("node:vm");
const filename = require("node:path").join(__dirname, "bundle.cjs");
// The tag tells apart the options of V8, which a cache must have been written under.
const cache = filename + ".${hash}." + cachedDataVersionTag() + ".cache";
const cachedData = existsSync(cache) ? readFileSync(cache) : undefined;
const script = new Script(readFileSync(filename, "${encoding}"), { filename, cachedData });
if (!cachedData && process.env.WRITE_CODE_CACHE)
  process.once("exit", () => writeFileSync(cache, script.createCachedData()));
script.runInThisContext().call(module.exports, module.exports, createRequire(filename), module, filename, __dirname);
`;

/**
 * CommonJS has no `await` outside of functions, so the code of the main module is moved into a function. A module
 * that others load has its exports instead, and may use `await` only inside of functions.
 */
const awaitInFunction = (main) => ({
  name: "await-in-function",
  transform(code, id) {
    if (id !== main || !/\bawait\b/.test(code) || /^export\b/m.test(code)) return null;
    const last = [...code.matchAll(IMPORT)].at(-1);
    const end = last ? last.index + last[0].length : 0;
    // Adds no line before the program's, so that the lines of source maps are right.
    return { code: `${code.slice(0, end)}(async () => {${code.slice(end)}\n})();\n`, map: null };
  },
});

/** How a module names the file of a thread that it starts. */
const WORKER = /new URL\("\.\/([\w-]+-worker)\.js", import\.meta\.url\)/g;

/** Notes the sources of threads, which are bundled beside the program. */
const notingWorkers = (workers) => ({
  name: "noting-workers",
  transform(code, id) {
    let isFound = false;
    const changed = code.replace(WORKER, (named, name) => {
      const source = join(dirname(id), `${name}.ts`);
      if (!existsSync(source)) return named;
      isFound = true;
      workers.set(name, source);
      return named.replace(".js", ".cjs");
    });
    return isFound ? { code: changed, map: null } : null;
  },
});

/** The import of the tables below, in the driver's file. */
const PASSWORD_TABLES = 'const saslprep_1 = require("@mongodb-js/saslprep");';

/**
 * The driver of MongoDB without two things that take 8 MiB of each process: the tables of characters that a password
 * needs for SCRAM-SHA-256 are loaded with the first such password, and addresses are read by Node's own URL class,
 * which follows the same standard as the driver's.
 */
const lightMongoDriver = {
  name: "light-mongo-driver",
  resolveId: (id) => (id === "whatwg-url" ? "\0whatwg-url.cjs" : null),
  load: (id) => (id === "\0whatwg-url.cjs" ? "module.exports = { URL, URLSearchParams };" : null),
  transform(code, id) {
    if (!/mongodb[\\/]lib[\\/]cmap[\\/]auth[\\/]scram\.js$/.test(id)) return null;
    if (!code.includes(PASSWORD_TABLES)) throw new Error(`${id} does not import the tables as expected`);
    const later =
      'const saslprep_1 = { saslprep: (...args) => require("@mongodb-js/saslprep").saslprep(...args) };';
    return { code: code.replace(PASSWORD_TABLES, later), map: null };
  },
};

/**
 * Writes `bundle.cjs`, and `bundle.cjs.map` if wanted; for each thread that the program starts, the bundle of
 * its source (`NAME-worker.ts` as `NAME-worker.cjs`).
 *
 * @param {{ main: string, folder: string, name?: string, plugins?: import("rolldown").Plugin[], sourcemap?: boolean }} options -
 *   `main`: absolute path of the program's source; `folder`: receives the files
 * @throws {Error} for a source that cannot be parsed, or an import that is not found
 */
export async function bundleProgram({ main, folder, name = "bundle", plugins = [], sourcemap = false }) {
  const workers = new Map();
  const bundle = await rolldown({
    input: { [name]: main },
    platform: "node",
    resolve: { conditionNames: ["@planwright/source", "node"] },
    plugins: [...plugins, notingWorkers(workers), awaitInFunction(main), lightMongoDriver],
    // Libraries use features that bundlers warn of: eval, optional modules that are not installed.
    logLevel: "silent",
  });
  try {
    await bundle.write({
      dir: folder,
      format: "cjs",
      entryFileNames: "[name].cjs",
      codeSplitting: false,
      sourcemap,
      charset: "ascii",
      comments: { legal: true, annotation: false, jsdoc: false },
      // A script with a code cache cannot import.
      dynamicImportInCjs: false,
    });
  } finally {
    await bundle.close();
  }
  for (const [worker, source] of workers) await bundleProgram({ main: source, folder, name: worker });
}

/** Names in the notices of licences: Rolldown leaves comments as they are. */
const LEGAL = /\/\*!.*\*\//g;
const escaped = (text) =>
  text.replace(/[\u0080-\uffff]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);

/**
 * Writes `start.cjs`, which loads the bundle of the folder, and the compiled code that it uses. The bundle becomes a
 * function that only `start.cjs` calls: Node would add the same around its text, which copies all of it at each start.
 *
 * @param {string} folder - with `bundle.cjs`
 * @param {readonly string[]} endWith - arguments with which the program ends by itself, in an empty
 *   environment; the functions that it uses until then are stored compiled
 * @param {{ isSmall?: boolean }} options - `isSmall`: it is also started with a small young generation
 * @returns {string} the path of `start.cjs`
 */
export function storeCompiled(folder, endWith, { isSmall = false } = {}) {
  const start = join(folder, "start.cjs");
  const bundle = join(folder, "bundle.cjs");
  const source = module.wrap(readFileSync(bundle, "utf8").replace(LEGAL, escaped));
  writeFileSync(bundle, source);
  const hash = createHash("sha256").update(source).digest("hex").slice(0, 16);
  const encoding = Buffer.byteLength(source) === source.length ? "latin1" : "utf8";
  for (const name of readdirSync(folder)) if (/^bundle\.cjs\..*cache$/.test(name)) rmSync(join(folder, name));
  writeFileSync(start, loaderOf(hash, encoding));
  for (const options of isSmall ? [...V8_OPTIONS, SMALL_OPTIONS] : V8_OPTIONS)
    spawnSync(process.execPath, [...options, start, ...endWith], {
      env: { PATH: process.env.PATH ?? "", WRITE_CODE_CACHE: "1" },
      stdio: "ignore",
      timeout: 60_000,
    });
  return start;
}
