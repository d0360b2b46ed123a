import { expect, test } from "vitest";
import { parseChanges } from "./plan-input.ts";

const changeOf = (index: number) => ({ stepId: `s${index}`, set: { x: index } });

test("at most 100 steps can be changed at once", () => {
  const changes = Array.from({ length: 101 }, (_, index) => changeOf(index));
  expect(parseChanges(changes.slice(1))).toHaveLength(100);
  expect(() => parseChanges(changes)).toThrow("At most 100 steps");
});

test("new arguments of more than 1 MiB are refused", () => {
  expect(() => parseChanges([{ stepId: "a", set: { x: "y".repeat(1_048_576) } }])).toThrow("larger than");
});

test.each([
  ['{"x":{"__proto__":1}}', "$.x.__proto__"],
  ['{"x":["\\ud800"]}', "$.x[0]"],
  ['{"x":{"_bsontype":"Long"}}', "$.x._bsontype"],
])("new arguments %s are refused by their path", (set, path) => {
  expect(() => parseChanges([{ stepId: "a", set: JSON.parse(set) }])).toThrow(path);
});
