import { expect, test } from "vitest";
import { cursorPlace } from "./places.ts";

/** The place of the cursor `|` in a text. */
function placeIn(marked: string) {
  return cursorPlace(marked.replace("|", ""), marked.indexOf("|"));
}

test.each([
  ['{"steps": [{"id": "a", |}]}', { path: ["steps", 0], kind: "key", typed: "" }],
  ['{"steps": [{"id": "a"}, {"to|"}]}', { path: ["steps", 1], kind: "key", typed: "to" }],
  ['{"steps": [{"tool": |', { path: ["steps", 0, "tool"], kind: "value", typed: "" }],
  ['{"steps": [{"tool": "re|', { path: ["steps", 0, "tool"], kind: "value", typed: "re" }],
  ['{"a": tr|', { path: ["a"], kind: "value", typed: "tr" }],
  ['{"a": ["x, {\\"", "|', { path: ["a", 1], kind: "value", typed: "" }],
  ['{"a": {"b": 1}, "c": [[1, |', { path: ["c", 0, 1], kind: "value", typed: "" }],
  ["|", { path: [], kind: "value", typed: "" }],
])("the place of the cursor in %s is found", (marked, place) => {
  expect(placeIn(marked)).toMatchObject(place);
});

test.each(['{"a": "x"|}', '{"a": 1 |}', "{}|"])("nothing is completed after a value: %s", (marked) => {
  expect(placeIn(marked)).toBeNull();
});

test("a completion replaces the complete string, including its closing quote", () => {
  expect(placeIn('{"tool": "re|ad", "b": 1}')).toMatchObject({ from: 9, to: 15 });
  expect(placeIn('{"tool": "re|, "b": 1}')).toMatchObject({ from: 9, to: 12 });
});
