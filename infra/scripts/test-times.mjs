// npm run test:times [-- --tests proof] [--top 60] [-- arguments of Vitest]
//
// Runs tests once and prints two Markdown tables of the processor seconds that they take, with all processes that
// they start: by package, and of the files that take most. Hosts differ, so the last column is in units of 20
// starts of `node -e 0`. Linux only.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    tests: { type: "string", default: "test" },
    top: { type: "string", default: "60" },
  },
});

/** Ticks of the clock in a second, in which Linux counts processor time. */
const TICKS = 100;

/** Processor seconds of all processes that this one has started and that have ended. */
function used() {
  const fields = readFileSync("/proc/self/stat", "utf8").split(") ")[1].split(" ");
  return (Number(fields[13]) + Number(fields[14])) / TICKS;
}

/** Runs a command to its end; returns its processor seconds and its exit code. */
function measure(command, args, env = process.env) {
  const before = used();
  const { status } = spawnSync(command, args, { cwd: root, env, stdio: ["ignore", "inherit", "inherit"] });
  return { seconds: used() - before, status };
}

let unit = 0;
for (let start = 0; start < 20; start += 1) unit += measure(process.execPath, ["-e", "0"]).seconds;

/** Prints rows of a name, a number of files and processor seconds. */
function printTable(title, rows) {
  console.log(`\n| ${title} | files | processor s | units of ${unit.toFixed(1)} s |\n|---|---|---|---|`);
  for (const [name, { files, seconds }] of rows)
    console.log(`| ${name} | ${files} | ${seconds.toFixed(0)} | ${(seconds / unit).toFixed(1)} |`);
}

/** Files with their seconds, added up by a name of each; the largest first. */
function sumBy(files, nameOf) {
  const sums = new Map();
  for (const { file, seconds } of files) {
    const name = nameOf(file);
    const sum = sums.get(name) ?? { files: 0, seconds: 0 };
    sums.set(name, { files: sum.files + 1, seconds: sum.seconds + seconds });
  }
  return [...sums].sort(([, a], [, b]) => b.seconds - a.seconds);
}

/** What each file took, by what its worker had used at the end of it and of the file before. */
function secondsOf(lines) {
  const before = new Map();
  return lines.map((line) => {
    const { pid, file, used: until } = JSON.parse(line);
    const earlier = before.get(pid) ?? 0;
    // A worker that has used less than before is another one: the system gives numbers of ended processes again.
    const seconds = until < earlier ? until : until - earlier;
    before.set(pid, until);
    return { file: relative(root, file), seconds };
  });
}

const folder = mkdtempSync(join(tmpdir(), "planwright-test-times-"));
try {
  const timesFile = join(folder, "times.jsonl");
  writeFileSync(timesFile, "");
  const env = { ...process.env, TESTS: values.tests, TEST_TIMES: timesFile };
  const vitest = ["node_modules/vitest/vitest.mjs", "run", ...positionals];
  const whole = measure(process.execPath, vitest, env);
  const files = secondsOf(readFileSync(timesFile, "utf8").split("\n").filter(Boolean));
  const inFiles = files.reduce((sum, { seconds }) => sum + seconds, 0);
  printTable(`package (${values.tests})`, [
    ...sumBy(files, (file) => file.split("/", 2).join("/")),
    ["Vitest, MongoDB and Redis for all", { files: 0, seconds: whole.seconds - inFiles }],
    ["all", { files: files.length, seconds: whole.seconds }],
  ]);
  printTable("file", sumBy(files, (file) => file).slice(0, Number(values.top)));
  process.exitCode = whole.status === 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
