import type { JsonObject } from "@planwright/plan";
import { expect, test } from "vitest";
import { type ComparedStep, diffVersions, fieldChanges } from "./diff.ts";

const step = (id: string, definition: JsonObject, rest: Partial<ComparedStep> = {}): ComparedStep => ({
  id,
  dependsOn: [],
  carriedFrom: null,
  definition: { id, ...definition },
  ...rest,
});

test("each step is added, removed, changed, carried over or the same", () => {
  const before = [
    step("a", { tool: "x" }),
    step("b", { tool: "x" }),
    step("c", { tool: "x" }, { dependsOn: ["b"] }),
    step("gone", { tool: "x" }),
  ];
  const after = [
    step("a", { tool: "x" }, { carriedFrom: "plan_1_a" }),
    step("b", { tool: "x" }),
    step("c", { tool: "y" }, { dependsOn: ["new"] }),
    step("new", { tool: "z" }),
  ];
  const diff = diffVersions({ steps: before }, { steps: after });
  expect(diff.map(({ id, change }) => [id, change])).toEqual([
    ["a", "carried"],
    ["b", "same"],
    ["c", "changed"],
    ["new", "added"],
    ["gone", "removed"],
  ]);
  expect(diff[2]).toMatchObject({
    dependsOn: ["new", "b"],
    fields: [{ path: "tool", before: '"x"', after: '"y"' }],
  });
});

test("fields are compared by their paths, whatever the order of their names", () => {
  const before = { arguments: { to: ["ann", "bob"], title: "Hi", note: {} }, timeoutMs: 5 };
  const after = {
    timeoutMs: 5,
    arguments: { title: "Hello", to: ["ann"], note: {}, urgent: true },
    dependsOn: [],
  };
  expect(fieldChanges(before, after)).toEqual([
    { path: "arguments.title", before: '"Hi"', after: '"Hello"' },
    { path: "arguments.to[1]", before: '"bob"', after: undefined },
    { path: "arguments.urgent", before: undefined, after: "true" },
  ]);
});
