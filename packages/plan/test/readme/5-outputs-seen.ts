import assert from "node:assert/strict";
import { observeOutput, parsePlan, schemaOfShape } from "@planwright/plan";

const first = observeOutput(undefined, { hits: [{ id: 7, title: "Tea" }], byUser: { "alice@test.com": 1 } });
const shape = observeOutput(first, { hits: [{ id: 8 }], byUser: { "bob@test.com": 2 } });
assert(!JSON.stringify(shape).includes("@"));
assert.deepEqual(schemaOfShape(shape)["properties"], {
  hits: {
    type: "array",
    items: {
      type: "object",
      properties: { id: { type: "integer", "x-seen": 2 }, title: { type: "string", "x-seen": 1 } },
      required: ["id"],
      "x-seen": 2,
    },
    "x-seen": 2,
  },
  byUser: { type: "object", additionalProperties: { type: "integer", "x-seen": 2 }, "x-seen": 2 },
});

const calls = [{ tool: "search" }, { tool: "open", arguments: { id: "<<search.hits[0].idd>>" } }];
const parsed = parsePlan(calls, { tools: [{ name: "search", observedOutput: shape }, { name: "open" }] });
assert(parsed.ok);
assert.equal(parsed.diagnostics[0]?.suggestion, "id");
