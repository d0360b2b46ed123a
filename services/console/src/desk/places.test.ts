import { jsonLanguage } from "@codemirror/lang-json";
import { expect, test } from "vitest";
import { correctionOf, documentOf, pathOf, rangeOf, rangeOfStep, stepAt } from "./places.ts";

const TEXT = '{"steps": [{"id": "a", "arguments": {"a key": [1, "two"]}}, {"id": "b", "tool": }]}';
const TREE = jsonLanguage.parser.parse(TEXT);

/** The part of the text at a path. */
function partAt(path: string): string {
  const { from, to } = rangeOf(TREE, TEXT, pathOf(path));
  return TEXT.slice(from, to);
}

test("the path of a diagnostic finds its value, also in an incomplete text", () => {
  expect(partAt('steps[0].arguments["a key"][1]')).toBe('"two"');
  expect(partAt("steps[1].id")).toBe('"b"');
});

test("a path that the text does not have finds its last existing part", () => {
  expect(partAt("steps[1].arguments.authorId")).toBe('{"id": "b", "tool": }');
  expect(rangeOf(jsonLanguage.parser.parse(""), "", ["steps"])).toEqual({ from: 0, to: 0 });
});

test("a step is found by its id and by the cursor in it", () => {
  const range = rangeOfStep(TREE, TEXT, "b");
  expect(TEXT.slice(range?.from, range?.to)).toBe('{"id": "b", "tool": }');
  expect(stepAt(TREE, TEXT, TEXT.indexOf("two"))).toBe("a");
  expect(stepAt(TREE, TEXT, 3)).toBeNull();
  expect(rangeOfStep(TREE, TEXT, "c")).toBeNull();
});

test("an incomplete text is read without the missing parts", () => {
  expect(documentOf(TREE, TEXT)).toEqual({
    steps: [{ id: "a", arguments: { "a key": [1, "two"] } }, { id: "b" }],
  });
  expect(documentOf(jsonLanguage.parser.parse("{"), "{")).toEqual({});
  expect(documentOf(jsonLanguage.parser.parse(""), "")).toBeNull();
});

test.each([
  ["a tool", "TOOL_UNKNOWN", "steps[0].tool", "read", '"read"'],
  ["the name of an argument", "ARGUMENT_UNKNOWN", "steps[0].arguments.valu", "value", '"value": 1'],
  ["a reference", "REFERENCE_UNKNOWN", "steps[0].arguments.from", "<<first>>", '"from": "<<first>>"'],
])("a suggestion for %s is written in its place", (_name, code, path, suggestion, written) => {
  const text =
    '{"steps": [{"tool": "reed", "arguments": {"valu": 1, "from": "<<frist>>", "to": "a <<frist>>"}}]}';
  const correction = correctionOf(jsonLanguage.parser.parse(text), text, { code, path, suggestion });
  const { from = 0, to = 0, insert = "" } = correction ?? {};
  expect(`${text.slice(0, from)}${insert}${text.slice(to)}`).toContain(written);
});

test.each([
  ["advice", "CONTRACT_BATCH_TOO_LARGE", "steps[0].id", '"forEach"'],
  ["a reference inside a text", "REFERENCE_UNKNOWN", 'steps[0].arguments["a key"][1]', "<<first>>"],
  ["a place that is gone", "TOOL_UNKNOWN", "steps[7].tool", "read"],
])("%s is not written by a click", (_name, code, path, suggestion) => {
  expect(correctionOf(TREE, TEXT, { code, path, suggestion })).toBeNull();
});
