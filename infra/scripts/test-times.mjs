// npm run test:times [-- --tests proof] [--project packages/plan]...
//
// Runs the tests of each package alone and prints a Markdown table of the processor seconds that they take, with
// all processes that they start. Hosts differ, so the last column is in units of 20 starts of `node -e 0`.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const { values } = parseArgs({
  options: {
    tests: { type: "string", default: "test" },
    project: { type: "string", multiple: true },
  },
});
const projects =
  values.project ??
  ["packages", "services"].flatMap((top) => readdirSync(join(root, top)).map((name) => `${top}/${name}`));

/** Ticks of the clock in a second, in which Linux counts processor time. */
const TICKS = 100;

/** Processor seconds of all processes that this one has started and that have ended. Linux only. */
function used() {
  const fields = readFileSync("/proc/self/stat", "utf8").split(") ")[1].split(" ");
  return (Number(fields[13]) + Number(fields[14])) / TICKS;
}

/** Runs a command to its end; returns its processor seconds and its exit code. */
function measure(command, args, env = process.env) {
  const before = used();
  const { status } = spawnSync(command, args, { cwd: root, env, stdio: ["ignore", "ignore", "inherit"] });
  return { seconds: used() - before, status };
}

let unit = 0;
for (let start = 0; start < 20; start += 1) unit += measure(process.execPath, ["-e", "0"]).seconds;

const folder = mkdtempSync(join(tmpdir(), "planwright-test-times-"));
let hasFailed = false;
console.log(
  `| ${values.tests} | files | tests | processor s | units of ${unit.toFixed(1)} s |\n|---|---|---|---|---|`,
);
try {
  for (const project of projects) {
    const file = join(folder, "report.json");
    const report = ["--reporter", "json", "--outputFile", file, "--passWithNoTests"];
    const { seconds, status } = measure(
      process.execPath,
      ["node_modules/vitest/vitest.mjs", "run", "--project", project, ...report],
      { ...process.env, TESTS: values.tests },
    );
    if (status !== 0) hasFailed = true;
    const { testResults: files, numPassedTests: tests } = JSON.parse(readFileSync(file, "utf8"));
    const row = [project, files.length, tests, seconds.toFixed(0), (seconds / unit).toFixed(1)];
    console.log(`| ${row.join(" | ")} |${status === 0 ? "" : " failed"}`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exit(hasFailed ? 1 : 0);
