import { defineConfig, type UserWorkspaceConfig } from "vitest/config";
import root from "../../../../vitest.config.ts";

const { projects = [], ...test } = root.test ?? {};
const [own] = projects.filter(
  (project): project is UserWorkspaceConfig =>
    typeof project === "object" && "test" in project && project.test?.name === "services/console",
);

/** Takes the screenshots with the servers that the tests use; `npm test` does not take them. */
export default defineConfig({
  ...root,
  test: { ...test, projects: [{ ...own, test: { ...own?.test, include: ["test/screenshots/*.shots.ts"] } }] },
});
