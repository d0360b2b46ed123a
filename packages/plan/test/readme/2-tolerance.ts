import assert from "node:assert/strict";
import { parsePlan } from "@planwright/plan";

const read = parsePlan({
  plan: "Find tea, then sum it up",
  version: "1.0",
  steps: {
    find: { action: "search", action_input: { q: "tea" }, thought: "Tea first" },
    sum: { tool: "sum", kwargs: { of: "<<find.hits>>" }, needs: { step: "find" }, retries: 0 },
  },
});
assert(read.ok);
assert.deepEqual(read.plan.steps[1], {
  id: "sum",
  tool: "sum",
  arguments: { of: "<<find.hits>>" },
  dependsOn: ["find"],
});
assert.deepEqual(
  read.diagnostics.map(({ code, path }) => [code, path]),
  [
    ["FIELD_IGNORED", "plan"],
    ["FIELD_IGNORED", "version"],
    ["FIELD_IGNORED", "steps[0].thought"],
  ],
);

const refused = parsePlan([{ tool: "search", arguments: { q: "tea" }, only_if: "it rains" }]);
assert.equal(refused.diagnostics[0]?.code, "FIELD_UNKNOWN");
