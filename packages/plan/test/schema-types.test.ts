import {
  fitTexts,
  foreignTypesOf,
  type JsonObject,
  type JsonValue,
  jsonTypesOf,
  parsePlan,
  validateArguments,
  withMeantValues,
} from "@planwright/plan";
import { expect, test } from "vitest";

test.each<[JsonValue, readonly string[] | undefined]>([
  ["string", ["string"]],
  [
    ["string", "null"],
    ["string", "null"],
  ],
  ["float", ["number"]],
  ["dict", ["object"]],
  ["tuple", ["array"]],
  ["String", ["string"]],
  ["int", ["integer"]],
  ["bool", ["boolean"]],
  ["None", ["null"]],
  ["any", undefined],
  ["ObjectId", undefined],
  ["list[int]", ["array"]],
  ["Dict[str, Any]", ["object"]],
  ["array<string>", ["array"]],
  ["string[]", ["array"]],
  ["Optional[str]", ["string", "null"]],
  ["typing.List", ["array"]],
  ["int | None", ["integer", "null"]],
  ["Union[int, float]", ["integer", "number"]],
  ["str?", ["string", "null"]],
  [
    ["float", "str"],
    ["number", "string"],
  ],
  [["float", "any"], undefined],
  ["", undefined],
  ["__proto__", undefined],
  [5, undefined],
  ["x".repeat(10_000), undefined],
  ["?".repeat(10_000), undefined],
])("the type %j is read as %j", (operand, types) => {
  expect(jsonTypesOf(operand)).toEqual(types);
});

test.each<[string, JsonValue, boolean]>([
  ["float", 1.5, true],
  ["float", "a", false],
  ["dict", { a: 1 }, true],
  ["dict", [1], false],
  ["tuple", [1], true],
  ["int", 1.5, false],
  ["any", { a: 1 }, true],
])("arguments are checked by it: %s takes %j: %s", (type, value, isTaken) => {
  const inputSchema = { type: "dict", properties: { of: { type } } };
  expect(validateArguments({ name: "t", inputSchema }, { of: value }).length === 0).toBe(isTaken);
});

test("a number for a String is inserted as text", () => {
  const schema = { type: "dict", properties: { of: { type: "String" } } };
  expect(fitTexts(schema, { of: 5 }).value).toEqual({ of: "5" });
});

test("fields named type and values of enum are not types", () => {
  const schema = {
    type: "object",
    properties: { type: { type: "float" }, of: { enum: [{ type: "shirt" }], default: { type: "hat" } } },
    $defs: { type: { type: "string" } },
  };
  expect(foreignTypesOf(schema)).toEqual([{ name: "float", readAs: ["number"] }]);
});

const MEANT: readonly [type: JsonValue, listed: JsonObject, taken: JsonValue[], refused: JsonValue[]][] = [
  ["integer", { enum: ["1", "2"] }, [1, 2], ["1", 3, 1.5]],
  ["INTEGER", { enum: ["101", "-7"] }, [101, -7], ["101", 7]],
  [["integer", "null"], { enum: ["1", null] }, [1, null], ["1", 2]],
  ["number", { enum: ["0.5", "2"] }, [0.5, 2], ["0.5"]],
  ["integer", { const: "5" }, [5], ["5", 6]],
  ["boolean", { enum: ["true", "false"] }, [true, false], ["yes"]],
  ["string", { enum: [1, 2.5] }, ["1", "2.5"], ["3"]],
  ["string", { enum: [true, false] }, ["true", "false"], ["yes"]],
  ["integer", { enum: ["low", "high"] }, ["low", "high"], [1, "1"]],
  ["integer", { enum: ["1", "low"] }, ["1", "low"], [2, "2"]],
  ["object", { enum: ["a", "b"] }, ["a", "b"], [{}]],
];

test.each(MEANT)("type %j with %j takes %j and refuses %j", (type, listed, taken, refused) => {
  const inputSchema = { type: "object", properties: { of: { type, ...listed } } };
  const isTaken = (of: JsonValue) => {
    const { diagnostics } = parsePlan([{ id: "a", tool: "t", arguments: { of } }], {
      tools: [{ name: "t", inputSchema }],
    });
    // A schema that contradicts itself is never read without a word.
    expect(diagnostics).toContainEqual(
      expect.objectContaining({ code: "TOOL_SCHEMA_TYPE", severity: "warning" }),
    );
    return !diagnostics.some(({ severity }) => severity === "error");
  };
  expect(taken.filter((value) => !isTaken(value))).toEqual([]);
  expect(refused.filter(isTaken)).toEqual([]);
});

test.each<JsonObject>([
  { type: "string", enum: ["1", "2"] },
  { type: "integer", enum: [1, "2"] },
  { type: ["integer", "string"], enum: ["1"] },
  { type: "integer", enum: [null] },
  { type: "integer", enum: [] },
  { enum: ["1"] },
  { type: "integer", const: 1 },
])("%j has its own meaning", (schema) => {
  expect(withMeantValues(schema)).toBe(schema);
  expect(foreignTypesOf(schema)).toEqual([]);
});
