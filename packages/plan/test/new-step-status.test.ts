// @module-tag proof
import { spawnSync } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const TABLE = "packages/plan/src/lifecycle/step-lifecycle.ts";
const CODE = ["src"];

/** The files that a new step status needs in addition to the table: the compiler requires them. */
const ASKED_FOR = [
  // Its mark, colour and words, in the terminal and the console.
  "packages/plan/src/lifecycle/state-words.ts",
  // Its text and its urgency in a terminal.
  "packages/cli/src/report/step-line.ts",
  // The entry of an item with it in the list's output, and the engine's handling of such a step, also in a
  // plan that stops.
  "packages/engine/src/schedule/envelope.ts",
  "packages/engine/src/decide/settle.ts",
  "packages/engine/src/decide/stop.ts",
  // Its priority in a large debug bundle, and its count. A test compares the enums of the schema.
  "services/api/src/resolvers/debug-bundle.ts",
  "services/api/src/plans/step-views.ts",
];

let copy: string | undefined;
afterEach(async () => {
  if (copy) await rm(copy, { recursive: true, force: true });
});

test("a new step status needs a row in one file, and the changes that the compiler then requires", async () => {
  copy = await copyOfCode();
  const before = await readFile(join(copy, TABLE), "utf8");
  const row = `  VERIFYING: { moves: ["COMPLETED"], needs: "worker", waitReason: null, isActive: true },\n`;
  const after = before
    .replace('moves: ["COMPLETED", "FAILED",', 'moves: ["VERIFYING", "COMPLETED", "FAILED",')
    .replace("  COMPLETED: {", `${row}  COMPLETED: {`);
  expect(after.split("VERIFYING")).toHaveLength(3);
  await writeFile(join(copy, TABLE), after);
  // One checker: each further one would check the libraries again.
  const options = ["--pretty", "false", "--checkers", "1"];
  const { stdout } = spawnSync(join(ROOT, "node_modules/.bin/tsc"), ["-p", copy, ...options], {
    cwd: copy,
    encoding: "utf8",
  });
  const complaints = [...stdout.matchAll(/^(\S+)\(\d+,\d+\): error /gm)].map(([, file]) => file);
  expect(new Set(complaints)).toEqual(new Set(ASKED_FOR));
});

/**
 * A copy of the code of every package and service, without tests, that can be changed; libraries are those of
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
    // Without the lab: it runs services and reads their tests, and users do not run it.
    for (const name of (await readdir(join(ROOT, top))).filter((one) => one !== "lab")) {
      const [from, to] = [join(ROOT, top, name), join(root, top, name)];
      const parts = await readdir(from);
      for (const part of parts.filter((one) => one === "package.json" || CODE.includes(one))) {
        // Of the console, which is compiled for browsers, only the looks of statuses.
        const isOfPage = (file: string) =>
          name !== "console" || !/\/src\/(?!parts(\/looks\.ts)?$)[^/]+/.test(file);
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
