import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { LongFilesFirst } from "./packages/testing/src/test-run.ts";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const folders = ["packages", "services"].flatMap((top) =>
  readdirSync(here(top)).map((name) => `${top}/${name}`),
);

/**
 * The file of graphql that Node loads. Vite would load its file for bundlers, and the process would have two
 * copies of graphql, because other libraries load it by Node.
 */
const graphql = createRequire(import.meta.url).resolve("graphql");

/** Packages are tested from their sources, without a build. */
const fromSource = {
  resolve: { conditions: ["@planwright/source"], alias: { graphql } },
  ssr: { resolve: { conditions: ["@planwright/source", "module-sync", "node", "development|production"] } },
};

/** The same for the global setup, which Vitest loads in a separate environment. */
const setupFromSource = {
  __vitest__: {
    resolve: { conditions: ["@planwright/source", "module-sync", "node", "development|production"] },
  },
};

/**
 * Timeouts for a machine that is busy with other work. A test that expects something sooner sets its own
 * timeout.
 */
const timeouts = {
  testTimeout: 240_000,
  hookTimeout: 240_000,
  expect: { poll: { timeout: 60_000, interval: 50 } },
};

/** Which tests run: those of `npm test`, those that only `npm run proof` runs, or both. */
const TESTS = ["test", "proof", "all"] as const;
const tests = TESTS.find((one) => one === (process.env["TESTS"] || "test"));
if (!tests) throw new TypeError(`TESTS=${process.env["TESTS"]} is not one of ${TESTS.join(", ")}`);

/** Marks what takes long: a test with this tag, or all tests of a file with "@module-tag proof". */
const PROOF = { name: "proof", description: "exhaustive: `npm run proof` runs it, `npm test` does not" };
const tagsFilter = { test: ["!proof"], proof: ["proof"], all: undefined }[tests];

/** The test files of a package. A file in which nothing would run is not loaded. */
function include(root: string): string[] {
  if (tests === "all") return ["**/*.test.ts"];
  return readdirSync(here(root), { recursive: true, encoding: "utf8" }).filter((path) => {
    if (!path.endsWith(".test.ts") || /(^|[/\\])(node_modules|dist|template)[/\\]/.test(path)) return false;
    const source = readFileSync(join(here(root), path), "utf8");
    const isWhole = /^\s*(\/\/|\*)\s*@module-tag proof\b/m.test(source);
    return tests === "proof"
      ? isWhole || /\b(testAndProof|partsOf|firstOfEach)\(|\bof SCHEMES\b|tags: \["proof"\]/.test(source)
      : !isWhole;
  });
}

/**
 * The test files of a project share a process and its imported modules, because imports take longer than most of
 * their tests. So tests restore everything that they change in the process or in a module. A project is a package;
 * when none is named all packages are one, because Vitest gives no process of one project to the next: each would
 * import everything again.
 */
const isOneNamed = process.argv.some((arg) => arg.startsWith("--project"));
const parts = isOneNamed
  ? folders.map((root) => ({ name: root, root, include: include(root) }))
  : [
      {
        name: "all packages",
        root: ".",
        include: folders.flatMap((root) => include(root).map((path) => `${root}/${path}`)),
      },
    ];

// Projects do not extend the root, so that its global setup, which starts one MongoDB and one Redis on demand,
// runs once and not for each project.
const projects = parts.map(({ name, root, include }) => ({
  ...fromSource,
  test: {
    name,
    root: here(root),
    include,
    exclude: ["**/node_modules/**", "template/**"], // tests of a new app run in the app
    tags: [PROOF],
    tagsFilter,
    isolate: false,
    setupFiles: [here("packages/testing/src/setup.ts")],
    ...timeouts,
  },
}));

export default defineConfig({
  ...fromSource,
  environments: setupFromSource,
  test: {
    projects,
    // One more than there are cores, because many tests only wait for processes, leases and timers. Each worker
    // imports and compiles the whole system, so further ones take more processor time and end no earlier.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: LongFilesFirst },
    globalSetup: here("packages/testing/test/global-setup.ts"),
    // What a test printed is shown if it failed.
    silent: "passed-only",
    reporters: ["default", here("packages/testing/src/test-run.ts")],
    coverage: { provider: "v8", include: ["{packages,services}/*/src/**/*.ts"] },
  },
});
