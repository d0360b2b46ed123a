import { jsonLanguage } from "@codemirror/lang-json";
import { expect, test } from "vitest";
import { documentOf, pathOf, rangeOf, rangeOfStep, stepAt } from "./places.ts";

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
