import assert from "node:assert/strict";
import { parsePlan, printPlan } from "@planwright/plan";

const same = [
  {
    steps: [
      { id: "find", tool: "search", arguments: '{"q":"tea"}' },
      { id: "sum", tool: "sum", arguments: '{"of":"$ref:find.hits[*].n"}' },
    ],
  },
  {
    tools: [
      { name: "search", parameters: { q: "tea" } },
      { name: "sum", parameters: { of: "{{search.hits[*].n}}" }, dependsOn: "search" },
    ],
  },
  [
    { tool: "search", arguments: { q: "tea" } },
    { tool: "sum", arguments: { of: "<<search.hits[*].n>>" } },
  ],
  [
    { id: "one", tool: "search", arguments: { q: "tea" } },
    { id: "two", tool: "sum", arguments: { of: "<<search.hits[*].n>>" }, after: ["one"] },
  ],
];
for (const input of same) {
  const parsed = parsePlan(JSON.stringify(input));
  assert(parsed.ok);
  const [first, second] = parsed.plan.steps;
  assert.deepEqual(second && "arguments" in second && second.arguments, { of: `<<${first?.id}.hits[*].n>>` });
  assert.deepEqual(parsePlan(printPlan(parsed.plan)), parsed);
}
