import assert from "node:assert/strict";
import { parsePlan, resolvePolicy } from "@planwright/plan";

const policy = resolvePolicy({ profile: "orchestrator", maxParallel: 4 });
assert.equal(policy.stepTimeoutMs, 30_000);
assert.equal(policy.maxParallel, 4);

const cycle = [
  { id: "a", tool: "t", dependsOn: ["b"] },
  { id: "b", tool: "t", dependsOn: ["a"] },
];
assert.equal(parsePlan(cycle).diagnostics[0]?.code, "CYCLE");
assert(parsePlan(cycle, { policy: { onCycle: "break-fewest" } }).ok);

const absent = [{ id: "a", tool: "report", dependsOn: ["login"] }];
const inserted = parsePlan(absent, {
  tools: [{ name: "login" }, { name: "report" }],
  policy: { onAbsentDependency: "insert" },
});
assert(inserted.ok);
assert.deepEqual(
  inserted.plan.steps.map(({ id }) => id),
  ["login", "a"],
);
