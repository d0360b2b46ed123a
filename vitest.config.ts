import { readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { LongFilesFirst } from "./packages/testing/src/long-files-first.ts";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const folders = ["packages", "services"].flatMap((top) =>
  readdirSync(here(top)).map((name) => `${top}/${name}`),
);

/**
 * What Node loads: Vite would take the file for bundlers, and there would be two of it, as the libraries
 * around it load theirs by Node.
 */
const graphql = createRequire(import.meta.url).resolve("graphql");

/** Packages are tested from their sources, without a build. */
const fromSource = {
  resolve: { conditions: ["@planwright/source"], alias: { graphql } },
  ssr: { resolve: { conditions: ["@planwright/source", "module-sync", "node", "development|production"] } },
};

/** The same for the global setup, which Vitest loads in an environment of its own. */
const setupFromSource = {
  __vitest__: {
    resolve: { conditions: ["@planwright/source", "module-sync", "node", "development|production"] },
  },
};

/**
 * How long a machine with much else to do may take over anything. What is to happen soon, a test says itself.
 */
const patience = {
  testTimeout: 240_000,
  hookTimeout: 240_000,
  expect: { poll: { timeout: 60_000, interval: 50 } },
};

/**
 * Projects whose files share a process and what was imported in it, which takes longer than most of their
 * tests. What these tests change of a process or a module, they put back.
 */
const SHARING: ReadonlySet<string> = new Set([
  "packages/cli",
  "packages/client",
  "packages/engine",
  "packages/lab",
  "packages/models",
  "packages/offline",
  "packages/plan",
  "packages/queue",
  "packages/store",
  "packages/tools",
  "services/api",
  "services/blog-tools",
  "services/executor",
  "services/planner",
]);

// Projects do not extend the root: its global setup, which offers one MongoDB and one Redis, runs once and
// not once a project.
const projects = folders.map((root) => ({
  ...fromSource,
  test: {
    name: root,
    root: here(root),
    include: ["**/*.test.ts"],
    isolate: !SHARING.has(root),
    setupFiles: [here("packages/testing/src/property-seed.ts"), here("packages/testing/src/end-with-run.ts")],
    ...patience,
  },
}));

export default defineConfig({
  ...fromSource,
  environments: setupFromSource,
  test: {
    projects,
    // Two more than there are cores: many tests wait for processes, leases and timers, and those that do not
    // share the cores fairly.
    maxWorkers: availableParallelism() + 2,
    sequence: { sequencer: LongFilesFirst },
    globalSetup: here("packages/testing/test/global-setup.ts"),
    reporters: ["default", here("packages/testing/src/closing-line-reporter.ts")],
    coverage: { provider: "v8", include: ["{packages,services}/*/src/**/*.ts"] },
  },
});
