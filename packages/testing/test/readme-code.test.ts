/**
 * Every TypeScript example of every README is compiled as strictly as our code, and runs unchanged. The examples of the
 * guide about tests are one file of a new app, which a test of packages/create-planwright runs.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { inspect } from "node:util";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { readmeBlocks, readmePaths, testServers } from "../src/index.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const blocks = readmePaths(ROOT)
  .flatMap((readme) => readmeBlocks(ROOT, readme))
  .filter(({ language, readme }) => language === "ts" && readme !== "docs/guides/testing-plans.md");
/** Inside the repository, so that the examples find its packages like a user's code. */
mkdirSync(join(ROOT, ".data"), { recursive: true });
const folder = mkdtempSync(join(ROOT, ".data", "readme-code-"));
const examples = blocks.map((block, index) => ({
  ...block,
  name: `${block.readme}:${block.line}`,
  file: join(folder, `example-${index + 1}.ts`),
}));

beforeAll(() => {
  // Compiled against the types that users get. A current build takes a moment.
  const turbo = join(ROOT, "node_modules", ".bin", "turbo");
  const built = spawnSync(turbo, ["run", "build"], { cwd: ROOT, encoding: "utf8" });
  if (built.status !== 0) throw new TypeError(`${built.stdout}\n${built.stderr}`);
  const { mongodbUrl, redisUrl } = testServers();
  // The addresses of the test's servers replace those in the examples.
  const addresses: [string, string][] = [
    ["mongodb://127.0.0.1:27017/planwright?replicaSet=rs0", mongodbUrl],
    ["redis://127.0.0.1:6379", redisUrl],
    ["/tmp/ledger.jsonl", join(folder, "ledger.jsonl")],
    [".data/mine", join(folder, "mine")],
  ];
  for (const { file, text } of examples) {
    const placed = addresses.reduce((code, [shown, actual]) => code.replaceAll(shown, actual), text);
    writeFileSync(file, placed);
  }
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({
      extends: join(ROOT, "tsconfig.json"),
      // The last statement of an example may define a variable that is not used.
      compilerOptions: { incremental: false, noUnusedLocals: false, customConditions: [] },
      include: ["*.ts"],
    }),
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("every example compiles", () => {
  const compiler = join(ROOT, "node_modules", ".bin", "tsc");
  // One checker: each further one would check the libraries again.
  const { stdout } = spawnSync(compiler, ["-p", folder, "--checkers", "1"], { encoding: "utf8" });
  const nameOf = new Map(examples.map(({ file, name }) => [file, name]));
  const output = stdout.replaceAll(
    /\S*(example-\d+\.ts)/g,
    (_, base) => nameOf.get(join(folder, base)) ?? base,
  );
  expect(output).toBe("");
});

test.each(examples)("$name runs, and prints the output that it shows", async ({ file, text }) => {
  vi.stubEnv("HEALTH_PORT", "0"); // the default may be taken on this machine
  const printed: string[] = [];
  const show = (value: unknown) => (typeof value === "string" ? value : inspect(value, { depth: 9 }));
  const log = vi.spyOn(console, "log").mockImplementation((...values) => {
    printed.push(values.map(show).join(" "));
  });
  try {
    await import(pathToFileURL(file).href);
  } finally {
    log.mockRestore();
    vi.unstubAllEnvs();
  }
  const shown = [...text.matchAll(/^\/\/ => (.*)$/gm)].map(([, line = ""]) => line);
  if (shown.length > 0) expect(printed.join("\n").replaceAll(/\s+/g, " ")).toBe(shown.join(" "));
});
