import assert from "node:assert/strict";
import {
  fitTexts,
  outputOfToolResult,
  parsePlan,
  resolveArguments,
  resolveReferences,
  scanReferences,
} from "@planwright/plan";

const outputs = { s1: { count: 0, tags: [{ label: "a" }, { label: "b" }], "due date": null } };
const { value } = resolveReferences(
  {
    number: "<<s1.count>>",
    text: "{{s1.count}} of $ref:s1.tags[0].label",
    list: "<<s1.tags[*].label>>",
    nothing: '<<s1["due date"]>>',
    literal: "\\<<s1.count>>",
  },
  { outputs },
);
assert.deepEqual(value, {
  number: 0,
  text: "0 of a",
  list: ["a", "b"],
  nothing: null,
  literal: "<<s1.count>>",
});

assert.throws(() => resolveReferences("<<s1.title>>", { outputs }), { code: "REFERENCE_MISSING" });
const kept = resolveReferences("<<s1.title>>", { outputs, policy: { onMissingField: "keep" } });
assert.deepEqual(kept.value, "<<s1.title>>");
assert.equal(kept.warnings.length, 1);

const answer = outputOfToolResult({ content: [{ type: "text", text: "1e3" }] });
assert(answer.ok);
const known = { outputs: { price: answer.output }, texts: { price: answer.text ?? 0 } };
const taken = { properties: { label: { type: "string" }, cents: { type: "integer" } } };
const args = resolveArguments({ label: "<<price>>", cents: "<<price>>" }, known, taken);
assert.deepEqual(args.value, { label: "1e3", cents: 1000 });
assert.deepEqual(fitTexts(taken, { label: 7 }).value, { label: "7" });

const foreign = parsePlan([
  { id: 1, tool: "find" },
  { id: 2, tool: "send", arguments: { text: "See $1.url and ${find.title}", price: "\\$1" } },
]);
assert(foreign.ok);
assert.deepEqual(foreign.plan.steps[1], {
  id: "s2",
  tool: "send",
  arguments: { text: "See <<s1.url>> and <<s1.title>>", price: "$1" },
  dependsOn: [],
});
assert.deepEqual(foreign.plan.literals, ["$1"]);

const labelled = parsePlan([
  { id: "a", tool: "find", save_as: "author" },
  { id: "b", tool: "send", arguments: { to: "{{author.mail}}", text: { $ref: "#/steps/a/output/text" } } },
]);
assert(labelled.ok);
assert.deepEqual(labelled.plan.steps[1], {
  id: "b",
  tool: "send",
  arguments: { to: "<<a.mail>>", text: "<<a.text>>" },
  dependsOn: [],
});

const [reference] = scanReferences({ to: ["Dear <<author.name>>"] });
assert.deepEqual([reference?.root, reference?.at, reference?.start], ["author", ["to", 0], 5]);
