import { spawnSync } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const TABLE = "packages/plan/src/lifecycle/step-lifecycle.ts";
const CODE = ["src"];

/** What a new step status has to say beside the table: the compiler asks for it. */
const ASKED_FOR = [
  // How it looks in a terminal, what is said of it, and how soon a reader wants to see it.
  "packages/cli/src/report/status-mark.ts",
  "packages/cli/src/report/step-line.ts",
  "packages/cli/src/report/step-urgency.ts",
  // What an item with it comes to in its list, and what the engine does with a step that has it, and in a
  // plan that stops.
  "packages/engine/src/for-each/envelope.ts",
  "packages/engine/src/decide/settle.ts",
  "packages/engine/src/decide/stop.ts",
  // What is left out first of a large bundle, and as what it is counted. A test compares the enums of the
  // schema.
  "services/api/src/debug/bundle-step.ts",
  "services/api/src/plans/step-counts.ts",
  // Its word, mark and tone in the console.
  "services/console/src/design/statuses.ts",
];

let copy: string | undefined;
afterEach(async () => {
  if (copy) await rm(copy, { recursive: true, force: true });
});

test("a new step status is a row in one file, and what the compiler then asks for", async () => {
  copy = await copyOfCode();
  const before = await readFile(join(copy, TABLE), "utf8");
  const row = `  VERIFYING: { moves: ["COMPLETED"], needs: "worker", waitReason: null, isUnderWay: true },\n`;
  const after = before
    .replace('moves: ["COMPLETED", "FAILED",', 'moves: ["VERIFYING", "COMPLETED", "FAILED",')
    .replace("  COMPLETED: {", `${row}  COMPLETED: {`);
  expect(after.split("VERIFYING")).toHaveLength(3);
  await writeFile(join(copy, TABLE), after);
  const { stdout } = spawnSync(join(ROOT, "node_modules/.bin/tsc"), ["-p", copy, "--pretty", "false"], {
    cwd: copy,
    encoding: "utf8",
  });
  const complaints = [...stdout.matchAll(/^(\S+)\(\d+,\d+\): error /gm)].map(([, file]) => file);
  expect(new Set(complaints)).toEqual(new Set(ASKED_FOR));
});

/**
 * The code of every package and service, without its tests, where it can be changed; libraries are those of
 * the repository.
 */
async function copyOfCode(): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), "new-step-status-"));
  const modules = join(root, "node_modules");
  await mkdir(join(modules, "@planwright"), { recursive: true });
  for (const name of await readdir(join(ROOT, "node_modules"))) {
    if (name !== "@planwright") await symlink(join(ROOT, "node_modules", name), join(modules, name));
  }
  for (const top of ["packages", "services"]) {
    // The lab runs services, and reads their tests: nothing that users run is in it.
    for (const name of (await readdir(join(ROOT, top))).filter((one) => one !== "lab")) {
      const [from, to] = [join(ROOT, top, name), join(root, top, name)];
      const parts = await readdir(from);
      for (const part of parts.filter((one) => one === "package.json" || CODE.includes(one))) {
        // Of the page, which is compiled for browsers, what says how a status looks.
        const isOfPage = (file: string) => name !== "console" || !/\/src\/(?!design)[^/]+/.test(file);
        const filter = (file: string) => !file.endsWith(".test.ts") && isOfPage(file);
        await cp(join(from, part), join(to, part), { recursive: true, filter });
      }
      if (parts.includes("node_modules")) await symlink(join(from, "node_modules"), join(to, "node_modules"));
      await symlink(to, join(modules, "@planwright", name));
    }
  }
  await cp(join(ROOT, "tsconfig.base.json"), join(root, "tsconfig.base.json"));
  const include = ["packages", "services"].flatMap((top) => CODE.map((part) => `${top}/*/${part}`));
  const noOutput = { composite: false, incremental: false, declaration: false, declarationMap: false };
  const compilerOptions = { ...noOutput, sourceMap: false, noEmit: true };
  const config = { extends: "./tsconfig.base.json", compilerOptions, include };
  await writeFile(join(root, "tsconfig.json"), JSON.stringify(config));
  return root;
}
