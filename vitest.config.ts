import { readdirSync } from "node:fs";
import { defineConfig } from "vitest/config";

const folders = ["packages", "services"].flatMap((top) => readdirSync(top).map((name) => `${top}/${name}`));
const inherit = (root: string) => ({ extends: true as const, test: { name: root, root } });

export default defineConfig({
  resolve: { conditions: ["@planwright/source"] },
  ssr: { resolve: { conditions: ["@planwright/source", "module-sync", "node", "development|production"] } },
  test: {
    projects: folders.map(inherit),
    globalSetup: ["packages/local/src/testing/global-setup.ts"],
    reporters: ["default"],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    coverage: { provider: "v8", include: ["{packages,services}/*/src/**/*.ts"] },
  },
});
