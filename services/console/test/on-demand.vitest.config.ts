import { defineConfig, type UserWorkspaceConfig } from "vitest/config";
import root from "../../../vitest.config.ts";

const { projects = [], ...test } = root.test ?? {};
const [own] = projects.filter(
  (project): project is UserWorkspaceConfig =>
    typeof project === "object" && "test" in project && project.test?.name === "services/console",
);
const include = ["test/screenshots/*.shots.ts", "test/timings/*.timings.ts"];

/**
 * `npm run screenshots` and `npm run bench -- console`, with the servers that the tests use; `npm test` runs
 * neither.
 */
export default defineConfig({
  ...root,
  test: { ...test, projects: [{ ...own, test: { ...own?.test, include } }] },
});
