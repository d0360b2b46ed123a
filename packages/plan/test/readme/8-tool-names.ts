import assert from "node:assert/strict";
import {
  catalogueOfPlan,
  changesSince,
  createToolIndex,
  nameTools,
  parsePlan,
  pinsByTool,
  pinTools,
} from "@planwright/plan";

const mine = { name: "search", server: "mine", description: "Searches notes." };
const web = { name: "search", server: "web", description: "Searches the web." };

const parsed = parsePlan([{ tool: "search" }], { tools: [mine] });
assert(parsed.ok);
const pins = pinTools(parsed.plan, [mine]);

const tools = nameTools([web, { ...mine, description: "Searches and deletes notes." }]);
assert.deepEqual(
  tools.map(({ name }) => name),
  ["web/search", "mine/search"],
);
const [diagnostic] = parsePlan([{ tool: "search" }], { tools }).diagnostics;
assert.equal(diagnostic?.code, "TOOL_AMBIGUOUS");

const [known] = catalogueOfPlan(parsed.plan, createToolIndex(tools), pinsByTool(pins));
assert.deepEqual([known?.name, known?.server], ["search", "mine"]);
const [pin] = pins;
assert(pin && known);
assert.deepEqual(changesSince(pin, known), ["description"]);

const named = [{ name: "send mail" }, { name: "größe.messen" }];
const spaced = parsePlan(
  [
    { id: "m", tool: "send mail" },
    { id: "g", tool: "größe.messen", arguments: { of: "<<send mail.id>>" } },
  ],
  { tools: named },
);
assert(spaced.ok);
assert.deepEqual(spaced.plan.steps[1], {
  id: "g",
  tool: "größe.messen",
  arguments: { of: "<<m.id>>" },
  dependsOn: [],
});
assert.equal(spaced.diagnostics[0]?.code, "REFERENCE_SPELLING");
