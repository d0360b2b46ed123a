import { defineConfig, type UserWorkspaceConfig } from "vitest/config";
import root from "../../../vitest.config.ts";

const { projects = [], ...test } = root.test ?? {};
const [own] = projects.filter(
  (project): project is UserWorkspaceConfig =>
    typeof project === "object" && "test" in project && project.test?.name === "services/planwright",
);

/** `npm run keep-database`, with the servers that the tests use; `npm test` does not run it. */
export default defineConfig({
  ...root,
  test: {
    ...test,
    projects: [{ ...own, test: { ...own?.test, include: ["test/stored-databases/keep.database.ts"] } }],
  },
});
