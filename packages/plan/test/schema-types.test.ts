import { fitTexts, foreignTypesOf, type JsonValue, jsonTypesOf, validateArguments } from "@planwright/plan";
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
