import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const folders = ["packages", "services"].flatMap((top) =>
  readdirSync(here(top)).map((name) => `${top}/${name}`),
);

/** Packages are tested from their sources, without a build. */
const fromSource = {
  resolve: { conditions: ["@planwright/source"] },
  ssr: { resolve: { conditions: ["@planwright/source", "module-sync", "node", "development|production"] } },
};

/** The same for the global setup, which Vitest loads in an environment of its own. */
const setupFromSource = {
  __vitest__: {
    resolve: { conditions: ["@planwright/source", "module-sync", "node", "development|production"] },
  },
};

// Projects do not extend the root: its global setup, one MongoDB and one Redis, is to run once and not once a project.
const projectsOf = (include: string[]) =>
  folders.map((root) => ({
    ...fromSource,
    test: { name: root, root: here(root), include, testTimeout: 30_000, hookTimeout: 60_000 },
  }));

/** `--mode crash-points` runs those of the executor, which take minutes of their own; everything else runs by default. */
export default defineConfig(({ mode }) => ({
  ...fromSource,
  environments: setupFromSource,
  test: {
    projects: projectsOf(mode === "crash-points" ? ["**/*.crash.ts"] : ["**/*.test.ts"]),
    globalSetup: [here("packages/local/src/testing/global-setup.ts")],
    reporters: ["default", here("packages/testing/src/closing-line-reporter.ts")],
    coverage: { provider: "v8", include: ["{packages,services}/*/src/**/*.ts"] },
  },
}));
