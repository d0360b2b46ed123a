import { expect, test } from "vitest";
import { BadInputError } from "../errors/api-error.ts";
import { applyPatch, MAX_OPERATIONS, parsePatch } from "./json-patch.ts";

const PLAN = {
  steps: [
    { id: "a", tool: "read", arguments: { title: "Hello", "a/b": 1, "m~n": 2 } },
    { id: "b", tool: "read", arguments: {} },
  ],
};
const patched = (...operations: unknown[]) => applyPatch(PLAN, parsePatch(operations));

const [A, B] = PLAN.steps;
const { arguments: values } = A!;
const CASES: [what: string, operations: object[], plan: object][] = [
  [
    "replaces a value",
    [{ op: "replace", path: "/steps/0/arguments/title", value: "Hi" }],
    { steps: [{ ...A, arguments: { ...values, title: "Hi" } }, B] },
  ],
  [
    "adds a member",
    [{ op: "add", path: "/steps/1/arguments/x", value: { y: null } }],
    { steps: [A, { ...B, arguments: { x: { y: null } } }] },
  ],
  [
    "adds into a list, and at its end",
    [
      { op: "add", path: "/steps/0", value: 1 },
      { op: "add", path: "/steps/-", value: 2 },
      { op: "add", path: "/steps/4", value: 3 },
    ],
    { steps: [1, A, B, 2, 3] },
  ],
  ["removes a step", [{ op: "remove", path: "/steps/0" }], { steps: [B] }],
  [
    "moves and copies",
    [
      { op: "copy", from: "/steps/0", path: "/steps/-" },
      { op: "replace", path: "/steps/2/id", value: "c" },
      { op: "move", from: "/steps/1", path: "/steps/0" },
    ],
    { steps: [B, A, { ...A, id: "c" }] },
  ],
  [
    "escapes names as RFC 6901 does",
    [
      { op: "replace", path: "/steps/0/arguments/a~1b", value: 3 },
      { op: "test", path: "/steps/0/arguments/m~0n", value: 2 },
    ],
    { steps: [{ ...A, arguments: { ...values, "a/b": 3 } }, B] },
  ],
  ["replaces the complete plan", [{ op: "replace", path: "", value: { steps: [] } }], { steps: [] }],
  [
    "ignores members that RFC 6902 does not know",
    [{ op: "remove", path: "/steps/1", why: "old" }],
    { steps: [A] },
  ],
];

test.each(CASES)("a patch %s, in a copy", (_, operations, plan) => {
  const before = structuredClone(PLAN);
  expect(patched(...operations)).toEqual(plan);
  expect(PLAN).toEqual(before);
});

test.each([
  [
    "a position that does not exist",
    { op: "replace", path: "/steps/7/tool", value: "x" },
    "names a value that does not exist",
  ],
  [
    "a parent that does not exist",
    { op: "add", path: "/nothing/x", value: 1 },
    "names a position that does not exist",
  ],
  [
    "an index after the end",
    { op: "add", path: "/steps/3", value: 1 },
    "names a position that does not exist",
  ],
  [
    "an index with a sign",
    { op: "add", path: "/steps/+1", value: 1 },
    "names a position that does not exist",
  ],
  ["an index with a leading zero", { op: "remove", path: "/steps/01" }, "does not exist"],
  [
    "a position in a text",
    { op: "add", path: "/steps/0/id/0", value: 1 },
    "names a position that does not exist",
  ],
  ["the length of a list", { op: "replace", path: "/steps/length", value: 4294967295 }, "does not exist"],
  [
    "a member of a list that is not an index",
    { op: "add", path: "/steps/length", value: 0 },
    "names a position that does not exist",
  ],
  ["a method of a list", { op: "copy", from: "/steps/map", path: "/x" }, "does not exist"],
  [
    "an inherited member of all objects",
    { op: "add", path: "/toString/call", value: 1 },
    "names a position that does not exist",
  ],
  ["the prototype", { op: "add", path: "/__proto__/polluted", value: 1 }, "names __proto__"],
  ["the constructor", { op: "add", path: "/steps/constructor/prototype/x", value: 1 }, "names constructor"],
  ["the prototype as a source", { op: "copy", from: "/__proto__", path: "/x" }, "names __proto__"],
  ["a value moved into itself", { op: "move", from: "/steps", path: "/steps/0" }, "into itself"],
  ["the complete plan removed", { op: "remove", path: "" }, "removes the complete plan"],
  ["a test of another value", { op: "test", path: "/steps/0/id", value: "b" }, "tests for another value"],
  ["an unknown operation", { op: "swap", path: "/steps" }, "is not one of RFC 6902"],
  ["a pointer without its slash", { op: "remove", path: "steps" }, "JSON Pointer"],
  ["no value", { op: "add", path: "/x" }, "value is missing"],
  ["no source", { op: "copy", path: "/x" }, "is not one of RFC 6902"],
  ["a text", "remove", "is not one of RFC 6902"],
])("%s is refused, and the operation is named", (_, operation, says) => {
  const good = { op: "test", path: "/steps/0/id", value: "a" };
  expect(() => patched(good, operation)).toThrow(BadInputError);
  expect(() => patched(good, operation)).toThrow("Operation 1 of the patch");
  expect(() => patched(good, operation)).toThrow(says);
  expect(Reflect.get({}, "polluted")).toBeUndefined();
  expect(Object.hasOwn(Object.prototype.toString, "call")).toBe(false);
});

test("a patch has 1 to 100 operations, and at most 1 MiB", () => {
  const operation = { op: "test", path: "/steps/0/id", value: "a" };
  expect(patched(...Array.from({ length: MAX_OPERATIONS }, () => operation))).toEqual(PLAN);
  expect(() => patched(...Array.from({ length: MAX_OPERATIONS + 1 }, () => operation))).toThrow("1 to 100");
  for (const none of [[], {}, null, "[]"]) expect(() => parsePatch(none)).toThrow("1 to 100");
  expect(() => patched({ ...operation, value: "x".repeat(1_048_576) })).toThrow("larger than");
});

test("copies that repeatedly double a plan are refused, and so are plans that are too deep", () => {
  const deep = Array.from({ length: MAX_OPERATIONS }, () => ({ op: "copy", from: "", path: "/x" }));
  expect(() => patched(...deep)).toThrow("makes the plan deeper than 90 levels");
  const wide = Array.from({ length: 60 }, () => ({ op: "copy", from: "/steps", path: "/steps/-" }));
  expect(() => patched(...wide)).toThrow("copies too much");
});

test("a test of two long lists is decided at once", () => {
  const steps = Array.from({ length: 20_000 }, (_, index) => index);
  const other = [...steps.slice(1), 0];
  expect(() => applyPatch({ steps }, parsePatch([{ op: "test", path: "/steps", value: other }]))).toThrow(
    "tests for",
  );
});
