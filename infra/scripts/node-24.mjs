// Part of npm run proof: the unit tests and a short chaos on Node 24, which the images use. Does nothing where
// Node 24 or later already runs: then everything else has run on it.
import { nodeOf, run } from "./run-source.mjs";

if (Number(process.versions.node.split(".")[0]) >= 24) {
  console.log(`Node ${process.versions.node} runs already: nothing to repeat on Node 24`);
  process.exit(0);
}
const { node, env } = nodeOf(24);
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
const options = { env, stdio: "inherit" };
run(node, ["node_modules/vitest/vitest.mjs", ...unitTests], options);
run(node, ["infra/scripts/chaos.mjs", "--plans", "10", "--faults", "3", "--seed", "1", "--json"], options);
