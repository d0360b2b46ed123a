import { describe, expect, test } from "vitest";
import type { JsonValue } from "../json/json.ts";
import {
  MAX_SHAPE_BYTES,
  mergeObserved,
  type OutputShape,
  observeOutput,
  schemaOfShape,
  seenIn,
} from "./observe-output.ts";

const observed = (...outputs: JsonValue[]): OutputShape =>
  outputs.reduce<OutputShape | undefined>(observeOutput, undefined) ?? { types: {} };
/** Names and types without counts. */
const schemaOf = (...outputs: JsonValue[]): JsonValue =>
  JSON.parse(
    JSON.stringify(schemaOfShape(observed(...outputs)), (key, value) =>
      key === "x-seen" ? undefined : value,
    ),
  );
const string = { type: "string" };
const integer = { type: "integer" };

test("a shape has the names and types of fields, not their values", () => {
  const output = { _id: "a1", name: "Alice", age: 30, score: 0.5, tags: ["x"], address: { city: "Rome" } };
  expect(schemaOf(output)).toEqual({
    type: "object",
    properties: {
      _id: string,
      name: string,
      age: integer,
      score: { type: "number" },
      tags: { type: "array", items: string },
      address: { type: "object", properties: { city: string }, required: ["city"] },
    },
    required: ["_id", "name", "age", "score", "tags", "address"],
  });
});

test("a field that was sometimes missing is optional, and has several types when it had several", () => {
  expect(schemaOf({ id: 1, next: "b" }, { id: 2, next: null }, { id: 3 })).toEqual({
    type: "object",
    properties: { id: integer, next: { type: ["null", "string"] } },
    required: ["id"],
  });
});

test("the occurrences of each path are counted", () => {
  const shape = observed([{ id: 1 }, { id: 2, note: "x" }], []);
  expect(seenIn(shape)).toBe(2);
  expect(shape.items?.types).toEqual({ object: 2 });
  expect(shape.items?.fields?.["note"]?.types).toEqual({ string: 1 });
});

describe("keys that are data become a map", () => {
  const map = { type: "object", additionalProperties: integer };

  test("by their form, in the first output", () => {
    expect(schemaOf({ "alice@test.com": 1 })).toEqual(map);
    expect(schemaOf({ "2026-05-12": 1, "2026-05-13": 2 })).toEqual(map);
  });

  test("together with all keys of the object, when half of them have such a form", () => {
    expect(schemaOf({ "alice@test.com": 1, bob: 2 })).toEqual(map);
    expect(schemaOf({ total: 1, next: 2, "alice@test.com": 1 })).toEqual({
      type: "object",
      properties: { total: integer, next: integer },
      required: ["total", "next"],
      additionalProperties: integer,
    });
  });

  test("when equal objects are under them", () => {
    const users = Object.fromEntries(["ann", "bob", "cid", "dan", "eve"].map((name) => [name, { age: 1 }]));
    expect(JSON.stringify(observed(users))).not.toMatch(/ann|bob|cid|dan|eve/);
  });

  test("when they differ from call to call", () => {
    const calls = ["ann", "bob", "cid", "dan"].map((name) => ({ [name]: 1 }));
    expect(schemaOf(...calls)).toEqual(map);
  });

  test("next to fields that always exist", () => {
    const calls = ["ann", "bob", "cid", "dan", "eve", "fay"].map((name) => ({ unit: "s", [name]: 1 }));
    expect(schemaOf(...calls)).toEqual({
      type: "object",
      properties: { unit: string },
      required: ["unit"],
      additionalProperties: integer,
    });
  });

  test("when there are more than a tool has fields", () => {
    const words = Array.from({ length: 26 }, (_, index) => String.fromCharCode(97 + index));
    const keys = words.flatMap((one) => ["x", "y", "z", "w"].map((other) => `${one}${other}`));
    expect(schemaOf(Object.fromEntries(keys.map((key) => [key, 1])))).toEqual(map);
  });
});

test("fields of records of different kinds keep their names", () => {
  const kinds = [
    { type: "push", at: 1, commits: [{ message: "m" }] },
    { type: "issue", at: 2, issue: { title: "t" } },
    { type: "star", at: 3, stars: 5 },
  ];
  expect(Object.keys(observed(kinds).items?.fields ?? {})).toEqual([
    "type",
    "at",
    "commits",
    "issue",
    "stars",
  ]);
});

test("a shape is bounded however large, wide and deep the outputs are", () => {
  const wide = (width: number, depth: number): JsonValue =>
    depth === 0
      ? "leaf"
      : Object.fromEntries(
          Array.from({ length: width }, (_, index) => [
            `field${"abcdefghijklmnopqrstuvwxyz"[index]}`,
            index % 2 === 0 ? wide(width, depth - 1) : index,
          ]),
        );
  let deep: JsonValue = 1;
  for (let level = 0; level < 900; level += 1) deep = { deeper: [deep] };
  const long = Array.from({ length: 100_000 }, (_, id) => ({ id }));
  const shape = observed(wide(20, 4), deep, long, wide(26, 3));
  expect(JSON.stringify(shape).length).toBeLessThanOrEqual(MAX_SHAPE_BYTES);
  expect(seenIn(shape)).toBe(4);
  expect(shape.items?.types).toEqual({ object: 20 });
});

test("when a part was left out, unnamed fields may still exist", () => {
  let deep: JsonValue = { id: 1 };
  for (let level = 0; level < 6; level += 1) deep = { deeper: deep };
  expect(JSON.stringify(schemaOf(deep))).toContain('"additionalProperties":true');
});

test("merging the shapes of two processes equals observing in one process", () => {
  const [a, b] = [
    { id: 1, tags: ["x"] },
    { id: "s", next: null },
  ];
  expect(mergeObserved(observed(a), observed(b))).toEqual(observed(a, b));
  expect(mergeObserved(undefined, observed(a))).toEqual(observed(a));
});
