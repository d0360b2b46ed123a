import { parsePlan, resolvePolicy, type ToolDescriptor } from "@planwright/plan";
import { expect, test } from "vitest";
import { readModelAnswer } from "./read-model-answer.ts";

const make: ToolDescriptor = {
  name: "make",
  inputSchema: { type: "object", properties: { name: { type: "string" } } },
  outputSchema: { type: "object", properties: { id: { type: "string" } } },
};
const open: ToolDescriptor = {
  name: "open",
  inputSchema: { type: "object", properties: { name: { type: "string" } }, additionalProperties: true },
};
const tools = [make, open];
const made = { id: "a", tool: "make", arguments: { name: "x" } };
const errorsOf = (steps: object[], policy = resolvePolicy()) =>
  readModelAnswer(JSON.stringify({ steps }), { tools, policy })
    .diagnostics.filter(({ severity }) => severity === "error")
    .map(({ code, path }) => [code, path]);

test("an undeclared argument from a model counts as invented", () => {
  const steps = [{ ...made, arguments: { name: "x", colour: "red" } }];
  expect(errorsOf(steps)).toEqual([["ARGUMENT_UNDECLARED", "steps[0].arguments.colour"]]);
  expect(parsePlan({ steps }, { tools }).ok).toBe(true);
});

test("an undeclared argument is accepted when the schema allows additional ones", () => {
  expect(errorsOf([{ id: "a", tool: "open", arguments: { colour: "red" } }])).toEqual([]);
});

test("a reference of a model to an undeclared output field counts as invented", () => {
  const steps = [made, { id: "b", tool: "make", arguments: { name: "<<a.slug>>" } }];
  expect(errorsOf(steps)).toEqual([["REFERENCE_FIELD_UNKNOWN", "steps[1].arguments.name"]]);
  expect(errorsOf(steps, resolvePolicy({ onMissingField: "null" }))).toEqual([]);
  expect(parsePlan({ steps }, { tools }).ok).toBe(true);
});

test.each([{ value: "T-100" }, { text: "T-100" }, { type: "string", value: "T-100" }])(
  "%j for a text argument is refused in a model's plan, and the text is suggested",
  (name) => {
    const steps = [{ ...made, arguments: { name } }];
    const { ok, diagnostics } = readModelAnswer(JSON.stringify({ steps }), { tools });
    expect(ok).toBe(false);
    expect(diagnostics).toMatchObject([
      {
        code: "ARGUMENT_TYPE",
        severity: "error",
        path: "steps[0].arguments.name",
        message:
          'step a: name is an object, and make takes a text: it gets the JSON text; write "T-100" alone',
        suggestion: "T-100",
      },
    ]);
    expect(parsePlan({ steps }, { tools }).ok).toBe(true);
  },
);

test.each([[{ value: { id: 7 } }], [{ value: "a", unit: "b" }], [{ rows: ["a"] }], [["a", "b"]]])(
  "%j is sent as its JSON text, which some tools expect",
  (name) => {
    expect(errorsOf([{ ...made, arguments: { name } }])).toEqual([]);
  },
);
