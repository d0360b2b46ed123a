import assert from "node:assert/strict";
import { orderToolCalls, parsePlan, planGraph, planWaves, toolContract } from "@planwright/plan";

const parsed = parsePlan([
  { id: "a", tool: "fetch" },
  { id: "b", tool: "fetch" },
  { id: "c", tool: "join", arguments: { of: ["<<a>>", "<<b>>"] } },
]);
assert(parsed.ok);
assert.deepEqual(planWaves(parsed.plan), [["a", "b"], ["c"]]);
assert.deepEqual(planGraph(parsed.plan).dependencies.get("c"), ["a", "b"]);
const contracts = new Map([["fetch", toolContract({ name: "fetch", sequential: true }).contract]]);
assert.deepEqual(planWaves(parsed.plan, { contracts }), [["a"], ["b"], ["c"]]);

const groups = orderToolCalls(
  [
    { id: "1", tool: "read" },
    { id: "2", tool: "deploy" },
    { id: "3", tool: "read" },
  ],
  [{ name: "read" }, { name: "deploy", sequential: true }],
);
assert.deepEqual(
  groups.map(({ isBarrier, calls }) => [isBarrier, calls.map(({ id }) => id)]),
  [
    [false, ["1"]],
    [true, ["2"]],
    [false, ["3"]],
  ],
);

const { contract, sources } = toolContract({
  name: "read",
  annotations: { readOnlyHint: true },
  trusted: true,
});
assert.deepEqual([contract.mode, sources.sideEffects], ["parallel-safe", "annotations"]);
