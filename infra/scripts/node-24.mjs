// Part of npm run proof: the unit tests and a short chaos on Node 24, which the images use. npm's package
// `node` is kept in .data/node-24. Does nothing where Node 24 or later already runs: then everything else has
// run on it.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const folder = join(root, ".data", "node-24");
const node = join(folder, "node_modules", "node", "bin", "node");

/** Runs a command and ends this process when it fails. */
function run(command, args, options = {}) {
  const result = spawnSync(command, args, { cwd: root, stdio: "inherit", ...options });
  if (result.error) console.error(`Could not run ${command}: ${result.error.message}`);
  if (result.status !== 0) process.exit(result.status ?? 1);
}

if (Number(process.versions.node.split(".")[0]) >= 24) {
  console.log(`Node ${process.versions.node} runs already: nothing to repeat on Node 24`);
  process.exit(0);
}
if (!existsSync(node)) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
  run("npm", ["install", "--no-save", "--loglevel=error", "node@24"], { cwd: folder });
}
// Programs that are started by name, such as tool servers, get the same Node.
const env = { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH}` };
console.log("On Node 24:");
const unitTests = [
  "run",
  "--project",
  "packages/plan",
  "--project",
  "packages/reading",
  "--project",
  "packages/engine",
];
run(node, ["node_modules/vitest/vitest.mjs", ...unitTests], { env });
run(node, ["infra/scripts/chaos.mjs", "--plans", "10", "--faults", "3", "--seed", "1", "--json"], { env });
