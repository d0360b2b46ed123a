import { expect, test } from "vitest";
import { argumentValue, collectSet } from "../src/commands/decide.ts";

const TEXT = { type: "string" };
const NUMBER = { type: "integer", minimum: 1 };
const LIST = { type: "array", items: { type: "string" } };
const EITHER = { type: ["string", "null"] };

test.each([
  ["Hello", TEXT, "Hello"],
  ["42", TEXT, "42"],
  ["true", TEXT, "true"],
  ["null", EITHER, null],
  ["42", NUMBER, 42],
  ["0", NUMBER, "0"],
  ["<<s1.n>>", NUMBER, "<<s1.n>>"],
  ['["a","b"]', LIST, ["a", "b"]],
  ["[1]", LIST, "[1]"],
  ["a=b", TEXT, "a=b"],
  ["42", null, 42],
  ['{"a":1}', null, { a: 1 }],
  ["{broken", null, "{broken"],
  ["", TEXT, ""],
])("%s typed for %o is %o", (text, schema, value) => {
  expect(argumentValue(text, { stepId: "s1", tool: "t", name: "x", schema })).toEqual(value);
});

test("one --set after another is collected, split at the first dot and the first equals sign after it", () => {
  const sets = collectSet("s-2.place.name=a.b=c", collectSet("s1.title=Hello", undefined));
  expect(sets).toEqual([
    { stepId: "s1", name: "title", text: "Hello" },
    { stepId: "s-2", name: "place.name", text: "a.b=c" },
  ]);
});

test.each(["title=Hello", "s1.title", "s1.=x", "1.title=x", ".title=x"])("%s is refused", (typed) => {
  expect(() => collectSet(typed, undefined)).toThrow("step.argument=value");
});
