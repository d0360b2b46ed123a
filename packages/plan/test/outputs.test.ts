import { fc, test as property } from "@fast-check/vitest";
import { expect, test } from "vitest";
import { PlanSchema, parsePlan, planJsonSchema, printPlan, resolveOutputs } from "../src/index.ts";

const STEPS = [
  { id: "find", tool: "search", arguments: { q: "tea" } },
  { id: "sum", tool: "sum", arguments: { of: "<<find.hits[*].n>>" } },
];

function outputsOf(outputs: unknown, field = "outputs") {
  const parsed = parsePlan({ steps: STEPS, [field]: outputs });
  if (!parsed.ok) return parsed.diagnostics.map(({ code, path }) => [code, path]);
  expect(PlanSchema.parse(JSON.parse(JSON.stringify(parsed.plan)))).toEqual(parsed.plan);
  expect(parsePlan(printPlan(parsed.plan))).toEqual(parsed);
  return parsed.plan.outputs;
}

test.each([
  ["an empty list means all", [], undefined],
  ["no parts mean all", {}, undefined],
  ["null means all", null, undefined],
  ["step ids stay", ["sum"], ["sum"]],
  ["a single name is a list with it", "search", ["find"]],
  ["a part keeps its value", { total: "<<sum.total>>", of: "tea" }, { total: "<<sum.total>>", of: "tea" }],
  ["references become canonical", { n: "{{search.hits.0.n}}" }, { n: "<<find.hits[0].n>>" }],
  ["parts may be deep", { a: { b: ["$ref:sum.total and more"] } }, { a: { b: ["<<sum.total>> and more"] } }],
  [
    "a list of names and values is parts",
    [{ name: "total", value: "<<sum.total>>" }],
    { total: "<<sum.total>>" },
  ],
  ["any characters name a part", { "größe in m²": "<<sum>>" }, { "größe in m²": "<<sum>>" }],
])("outputs: %s", (_, written, read) => {
  expect(outputsOf(written)).toEqual(read);
  expect(outputsOf(written, "output_steps")).toEqual(read);
});

test.each([
  ["an unknown step", ["nothing"], "OUTPUT_UNKNOWN", "outputs[0]"],
  ["a part that refers to no step", { a: { b: "<<fnd.hits>>" } }, "OUTPUT_UNKNOWN", "outputs.a.b"],
  ["a part with half a reference", { a: "<<find.hits" }, "REFERENCE_MALFORMED", "outputs.a"],
  ["a part that refers to a prototype", { a: "<<find.__proto__>>" }, "REFERENCE_FORBIDDEN", "outputs.a"],
  ["a part without a name", { "": 1 }, "FIELD_INVALID", "outputs"],
  ["a part with an endless name", { ["x".repeat(129)]: 1 }, "FIELD_INVALID", "outputs"],
  ["a part with a forbidden name", { constructor: 1 }, "FIELD_INVALID", "outputs"],
  [
    "too many parts",
    Object.fromEntries(Array.from({ length: 1_001 }, (_, index) => [`p${index}`, 1])),
    "FIELD_INVALID",
    "outputs",
  ],
  ["a number without a step", 7, "OUTPUT_UNKNOWN", "outputs[0]"],
  [
    "two parts of one name",
    [
      { name: "a", value: 1 },
      { name: "a", value: 2 },
    ],
    "FIELD_INVALID",
    "outputs",
  ],
])("outputs: %s is refused", (_, written, code, path) => {
  expect(outputsOf(written)).toEqual([[code, path]]);
});

test("a part that refers to a tool of several steps gets a diagnostic with their ids", () => {
  const steps = [
    { id: "a", tool: "t" },
    { id: "b", tool: "t" },
  ];
  const parsed = parsePlan({ steps, outputs: { x: "<<t.y>>" } });
  expect(parsed.diagnostics).toMatchObject([{ code: "REFERENCE_AMBIGUOUS", suggestion: "a" }]);
});

test("fields of parts are checked against the output schema of their source", () => {
  const outputSchema = {
    type: "object",
    properties: { total: { type: "number" } },
    additionalProperties: false,
  };
  const tools = [{ name: "search" }, { name: "sum", outputSchema }];
  const { diagnostics } = parsePlan({ steps: STEPS, outputs: { a: "<<sum.totl>>" } }, { tools });
  expect(diagnostics).toMatchObject([
    { code: "REFERENCE_FIELD_UNKNOWN", severity: "error", path: "outputs.a", suggestion: "total" },
  ]);
});

test("the JSON Schema of plans accepts both forms of outputs", () => {
  const properties = planJsonSchema()["properties"] as { outputs: { anyOf: object[] } };
  expect(properties.outputs.anyOf).toMatchObject([{ type: "array" }, { type: "object" }]);
});

test("resolveOutputs returns steps by id, by default all", () => {
  const { steps, policy } = PlanSchema.parse({ steps: STEPS });
  const known = { find: { hits: [] }, sum: 0 };
  expect(resolveOutputs({ steps, policy }, known).outputs).toEqual(known);
  expect(resolveOutputs({ steps, policy, outputs: [] }, known).outputs).toEqual(known);
  expect(resolveOutputs(PlanSchema.parse({ steps: STEPS, outputs: ["sum"] }), known).outputs).toEqual({
    sum: 0,
  });
});

test.each([
  ["error", undefined],
  ["keep", undefined],
  ["null", null],
] as const)("a part with a missing field under onMissingField %s", (onMissingField, given) => {
  const outputs = { a: "<<sum.none>>", b: "<<sum.total>>" };
  const plan = PlanSchema.parse({ steps: STEPS, outputs, policy: { onMissingField } });
  const resolved = resolveOutputs(plan, { sum: { total: 1 } });
  expect(resolved.outputs).toEqual(given === null ? { a: null, b: 1 } : { b: 1 });
  expect(resolved.leftOut).toMatchObject(given === null ? [] : [{ name: "a", steps: ["sum"] }]);
});

test("parts that would be too large together are left out", () => {
  const outputs = { a: "<<find>>", b: "<<find>>", c: "<<find>>" };
  const plan = PlanSchema.parse({ steps: STEPS, outputs });
  const resolved = resolveOutputs(plan, { find: ["x".repeat(7 * 1024 * 1024)] });
  expect(Object.keys(resolved.outputs)).toEqual(["a", "b"]);
  expect(resolved.leftOut.map(({ name }) => name)).toEqual(["c"]);
});

property.prop([fc.dictionary(fc.string({ minLength: 1, maxLength: 20 }), fc.jsonValue(), { maxKeys: 5 })])(
  "what reads as outputs can be printed and read again",
  (outputs) => {
    const parsed = parsePlan({ steps: STEPS, outputs });
    if (!parsed.ok) return;
    const again = parsePlan(printPlan(parsed.plan));
    // Diagnostics of the first text, such as for another notation, do not apply to the printed one.
    expect({ ok: again.ok, plan: again.ok && again.plan }).toEqual({ ok: true, plan: parsed.plan });
  },
);
