import { fc, test } from "@fast-check/vitest";
import { type JsonObject, type JsonValue, parsePlan, printPlan } from "@planwright/plan";
import { readModelAnswer } from "@planwright/reading";
import { expect } from "vitest";

const tools = ["find", "send"].map((name) => ({ name, annotations: { readOnlyHint: true } }));
const planOf = (args: JsonObject, more: object = {}) => ({
  steps: [
    { id: "s1", tool: "find" },
    { id: "s2", tool: "send", arguments: args },
  ],
  ...more,
});

function read(args: JsonObject, { more = {}, request }: { more?: object; request?: string } = {}) {
  const document = planOf(args, more);
  const found =
    request === undefined
      ? parsePlan(document)
      : readModelAnswer(JSON.stringify(document), { tools, query: request });
  const last = found.ok ? found.plan.steps.at(-1) : undefined;
  return {
    plan: found.ok ? found.plan : undefined,
    value: last && "arguments" in last ? last.arguments : undefined,
    codes: found.diagnostics.map(({ code, severity }) => `${severity} ${code}`),
  };
}

const READ = ["warning REFERENCE_SPELLING"];

test.each<[string, string]>([
  ["s1.text", "<<s1.text>>"],
  ["s1", "<<s1>>"],
  ["<<s1.text>>", "<<s1.text>>"],
  ["${s1.text}", "<<s1.text>>"],
  ["$.s1.text", "<<s1.text>>"],
  ["#/steps/s1/output/text", "<<s1.text>>"],
  ["#/steps/0/output/items/0/id", "<<s1.items[0].id>>"],
  ["#/s1/text", "<<s1.text>>"],
  ["#/steps/s1/a~1b", '<<s1["a/b"]>>'],
  ["find.text", "<<s1.text>>"],
  ["1.text", "<<s1.text>>"],
])('{"$ref": "%s"} is %s, with a warning, at any depth', ($ref, meant) => {
  expect(read({ value: { $ref } })).toMatchObject({ value: { value: meant }, codes: READ });
  expect(read({ list: [1, { deep: { $ref } }] })).toMatchObject({
    value: { list: [1, { deep: meant }] },
    codes: READ,
  });
});

test("a field whose name ends in .$ becomes the field with the reference of its path", () => {
  const args = { "text.$": "$.s1.text", in: { "all.$": "$.steps.s1.output" } };
  expect(read(args)).toMatchObject({
    value: { text: "<<s1.text>>", in: { all: "<<s1>>" } },
    codes: [...READ, ...READ],
  });
});

test.each<[string, JsonObject]>([
  ["an expression", { value: { $ref: "s1.text | upper" } }],
  ["words after a step", { value: { $ref: "s1 text" } }],
  ["with other fields", { value: { $ref: "s1.text", default: "x" } }],
  ["the field itself next to its path", { text: "x", "text.$": "$.s1.text" }],
  ["a function", { "text.$": "States.Format('See {}', $.s1.text)" }],
])("%s around the name of a step is an error", (_, args) => {
  const { value, codes } = read(args);
  expect({ value, code: codes[0] }).toEqual({ value: undefined, code: "error REFERENCE_MALFORMED" });
});

test.each<JsonValue>([
  { $ref: "#/definitions/author" },
  { $ref: "s9.text" },
  { $ref: 5 },
  { "text.$": "$.s9" },
  { "text.$": 5 },
  { ".$": "x" },
])("%j, which names no step, is data", (value) => {
  expect(read({ value })).toMatchObject({ value: { value }, codes: [] });
});

test("an object with $ref and $id, which a database reads as a reference, is refused", () => {
  expect(read({ value: { $ref: "s1", $id: "17" } }).codes).toEqual(["error FIELD_UNKNOWN"]);
});

test("an object that the request contains literally is data, and stays data whenever the plan is read", () => {
  const value = { $ref: "s1.text" };
  const { value: given, plan } = read({ value }, { request: 'Send {"$ref":"s1.text"} to all, then find it' });
  expect(given).toEqual({ value });
  expect(plan && parsePlan(printPlan(plan))).toMatchObject({ ok: true, plan, diagnostics: [] });
  expect(read({ value: { $ref: "s1" } }, { request: "Send s1 to all" }).value).toEqual({ value: "<<s1>>" });
});

test("they are read in outputs and conditions too", () => {
  const parsed = parsePlan({
    steps: [
      { id: "s1", tool: "find" },
      { id: "s2", tool: "send", when: { gt: [{ $ref: "s1.count" }, 0] } },
    ],
    outputs: { text: { $ref: "#/steps/s1/output/text" } },
  });
  expect(parsed).toMatchObject({
    ok: true,
    plan: { steps: [{}, { when: { gt: ["<<s1.count>>", 0] } }], outputs: { text: "<<s1.text>>" } },
  });
});

test.each<[string, string]>([
  ["<<s1[]>>", "<<s1[*]>>"],
  ["<<s1[].id>>", "<<s1[*].id>>"],
  ["{{s1.list[].id}}", "<<s1.list[*].id>>"],
  ["$ref:s1.list[].id", "<<s1.list[*].id>>"],
  ["$ref:s1.list.*.id", "<<s1.list[*].id>>"],
  ["$ref:s1?.list", "<<s1.list>>"],
])("%s is %s, with a warning that says so", (written, meant) => {
  for (const [before, after] of [
    ["", ""],
    ["See ", " now"],
  ]) {
    const { value, codes } = read({ value: `${before}${written}${after}` });
    expect({ value, codes }).toEqual({ value: { value: `${before}${meant}${after}` }, codes: READ });
  }
});

test("a range after a reference without brackets is an error", () => {
  expect(read({ value: "$ref:s1.list[0:2]" }).codes).toEqual(["error REFERENCE_MALFORMED"]);
});

const root = fc.constantFrom("s1", "find", "1", "step 1", "steps.s1", "$.s1", "#/steps/s1", "#/s1");
const tail = fc.constantFrom("", ".text", ".a.b", "[0]", "[]", ".x | f", " x", "[0:1]", "/text", ".a b");

test.prop([root, tail, fc.boolean()])(
  "an object that names a step is a reference or an error, never data",
  (name, rest, isField) => {
    const text = name.startsWith("#") ? name + rest.replaceAll(".", "/") : name + rest;
    const args: JsonObject = isField ? { "value.$": text } : { value: { $ref: text } };
    const { value, codes } = read(args);
    if (value === undefined) expect(codes.some((code) => code.startsWith("error"))).toBe(true);
    else expect(value["value"]).toMatch(/^<<s1[^<>]*>>$/);
  },
);
