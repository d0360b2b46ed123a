import {
  CodedError,
  type JsonValue,
  printReference,
  resolveReferences,
  scanReferences,
} from "@planwright/plan";
import { expect, test } from "vitest";
import resolving from "./data/resolving.json" with { type: "json" };
import scanning from "./data/scanning.json" with { type: "json" };

test.each(scanning)("scanReferences: $title", ({ text, references }) => {
  const found = scanReferences(text);
  expect(found.map(({ root, path }) => printReference(root, path))).toEqual(references);
  for (const reference of found) expect(text.slice(reference.start, reference.end)).toBe(reference.text);
});

interface ResolvingCase {
  title: string;
  value: JsonValue;
  outputs: Record<string, JsonValue>;
  policy?: object;
  scope?: Record<string, JsonValue>;
  aliases?: Record<string, string | string[]>;
  expected?: JsonValue;
  error?: string;
  warnings?: number;
}

test.each(resolving as ResolvingCase[])(
  "resolveReferences: $title",
  ({ value, outputs, error, expected, warnings, ...options }) => {
    const before = JSON.stringify([value, outputs]);
    const run = () => resolveReferences(value, { outputs: new Map(Object.entries(outputs)), ...options });
    if (error === undefined) {
      const resolved = run();
      expect(resolved.value).toStrictEqual(expected);
      if (warnings !== undefined) expect(resolved.warnings).toHaveLength(warnings);
      expect(resolveReferences(value, { outputs, ...options })).toEqual(resolved);
    } else {
      expect(run).toThrow(expect.objectContaining({ code: error }));
      expect(run).toThrow(CodedError);
    }
    expect(JSON.stringify([value, outputs])).toBe(before);
  },
);

test("scanReferences finds references at any depth, with their paths", () => {
  const value = { a: ["x", { "b c": "1 <<s.t>>" }], d: "{{u}}" };
  expect(scanReferences(value).map(({ root, at, isWhole }) => ({ root, at, isWhole }))).toEqual([
    { root: "s", at: ["a", 1, "b c"], isWhole: false },
    { root: "u", at: ["d"], isWhole: true },
  ]);
});

test("nesting of 100,000 levels is scanned and resolved", () => {
  let value: JsonValue = "<<s.x>>";
  for (let depth = 0; depth < 100_000; depth++) value = depth % 2 ? [value] : { v: value };
  expect(scanReferences(value)).toHaveLength(1);
  let inner = resolveReferences(value, { outputs: { s: { x: 7 } } }).value;
  while (typeof inner === "object" && inner !== null) inner = Array.isArray(inner) ? inner[0]! : inner["v"]!;
  expect(inner).toBe(7);
});

test("a value that is nested too deeply for text is a typed error inside text", () => {
  let deep: JsonValue = 1;
  for (let depth = 0; depth < 100_000; depth++) deep = [deep];
  expect(() => resolveReferences("x <<s>>", { outputs: { s: deep } })).toThrow(
    expect.objectContaining({ code: "REFERENCE_TOO_LARGE" }),
  );
});

test("the size of inserted values is limited", () => {
  const outputs = { s: { big: "y".repeat(1_000) } };
  const value = Array.from({ length: 100 }, () => "<<s.big>> <<s.big>>");
  expect(() => resolveReferences(value, { outputs, maxSize: 50_000 })).toThrow(
    expect.objectContaining({ code: "REFERENCE_TOO_LARGE" }),
  );
  expect(() => resolveReferences("<<s>>", { outputs, maxSize: 100 })).toThrow(
    expect.objectContaining({ code: "REFERENCE_TOO_LARGE" }),
  );
});

test("a resolved value shares nothing with the output", () => {
  const outputs = new Map<string, JsonValue>([["s", { list: [{ x: 1 }] }]]);
  const { value } = resolveReferences({ one: "<<s.list>>", two: "<<s.list>>" }, { outputs });
  (value["one"] as { x: number }[])[0]!.x = 2;
  expect(value["two"]).toEqual([{ x: 1 }]);
  expect(outputs.get("s")).toEqual({ list: [{ x: 1 }] });
});
