import { fc, test } from "@fast-check/vitest";
import { expect } from "vitest";
import { isJsonObject, type JsonValue } from "../json/json.ts";
import {
  MAX_FIELDS,
  MAX_SHAPE_BYTES,
  mergeObserved,
  mergeShapes,
  type OutputShape,
  observeOutput,
  seenIn,
  settleShape,
  shapeOfOutput,
} from "./observe-output.ts";

/** Part of every text and every key that is data, and of no field name. */
const MARK = "Zq@";

const value: fc.Arbitrary<JsonValue> = fc.oneof(
  fc.constantFrom(null, true, false, 0, 7, 0.5),
  fc.string({ maxLength: 10 }).map((text) => `${MARK}${text}`),
  fc.constantFrom(`${MARK} Alice Smith`, `${MARK}sk-proj-abcdefghijkl`, `${MARK}alice@test.com`),
);
const name = fc.constantFrom(
  "id",
  "name",
  "createdAt",
  "items",
  "next_page",
  "owner",
  "sha256",
  "a",
  "b",
  "c",
);
const dataKey = fc.oneof(
  fc.emailAddress().map((address) => `${MARK}${address}`),
  fc.string({ maxLength: 30 }).map((text) => `${MARK}${text}`),
);
const { output } = fc.letrec<{ output: JsonValue }>((tie) => ({
  output: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    value,
    fc.array(tie("output"), { maxLength: 6 }),
    fc.dictionary(name, tie("output"), { maxKeys: 8 }),
    fc.dictionary(fc.oneof(name, dataKey), tie("output"), { maxKeys: 8 }),
  ),
}));
const shape = output.map(shapeOfOutput);
/** Objects with many fields, so that limits are reached. */
const wideShape = fc
  .array(fc.tuple(fc.integer({ min: 0, max: 200 }), fc.oneof(value, fc.dictionary(name, value))), {
    maxLength: 60,
  })
  .map((fields) =>
    shapeOfOutput(Object.fromEntries(fields.map(([number, inner]) => [letters(number), inner]))),
  );

const letters = (number: number): string =>
  String(number).replace(/\d/g, (digit) => "abcdefghij"[Number(digit)] ?? "");

/** A shape without counts. */
const withoutCounts = (one: OutputShape): JsonValue =>
  JSON.parse(JSON.stringify(one, (_, inner) => (typeof inner === "number" ? 1 : inner)));

test.prop([fc.array(output, { minLength: 1, maxLength: 8 })])(
  "no text and no key that is data is ever in a shape",
  (outputs) => {
    const learned = outputs.reduce<OutputShape | undefined>(observeOutput, undefined);
    expect(JSON.stringify(learned)).not.toContain("Zq");
    expect(seenIn(learned ?? { types: {} })).toBe(outputs.length);
  },
);

test.prop([fc.oneof(shape, wideShape), fc.oneof(shape, wideShape)])(
  "merging is commutative",
  (one, other) => {
    expect(mergeShapes(one, other)).toEqual(mergeShapes(other, one));
    expect(mergeObserved(one, other)).toEqual(mergeObserved(other, one));
  },
);

test.prop([fc.array(fc.oneof(shape, wideShape), { minLength: 3, maxLength: 3 })])(
  "merging is associative",
  ([a, b, c]) => {
    if (!a || !b || !c) return;
    expect(mergeShapes(mergeShapes(a, b), c)).toEqual(mergeShapes(a, mergeShapes(b, c)));
  },
);

test.prop([fc.oneof(shape, wideShape)])(
  "a shape merged with itself is the same with doubled counts",
  (one) => {
    const twice = mergeShapes(one, one);
    expect(withoutCounts(twice)).toEqual(withoutCounts(one));
    expect(seenIn(twice)).toBe(2 * seenIn(one));
  },
);

test.prop([fc.oneof(shape, wideShape)])("settling again changes nothing", (one) => {
  const settled = settleShape(one);
  expect(settleShape(settled)).toEqual(settled);
});

test.prop([
  fc.array(
    fc.oneof(
      fc.json().map((text): JsonValue => JSON.parse(text)),
      output,
    ),
    { maxLength: 8 },
  ),
])("a shape is bounded, and counts every output", (outputs) => {
  const learned = outputs.reduce<OutputShape | undefined>(observeOutput, undefined) ?? { types: {} };
  expect(new TextEncoder().encode(JSON.stringify(learned)).length).toBeLessThanOrEqual(MAX_SHAPE_BYTES);
  expect(widestOf(learned)).toBeLessThanOrEqual(MAX_FIELDS);
  expect(seenIn(learned)).toBe(outputs.length);
});

test.prop([fc.array(output, { minLength: 1, maxLength: 5 })])(
  "every kept name is the name of a field in one of the outputs",
  (outputs) => {
    const learned = outputs.reduce<OutputShape | undefined>(observeOutput, undefined) ?? { types: {} };
    const names = new Set(outputs.flatMap(namesIn));
    for (const kept of Object.keys(learned.fields ?? {})) expect(names).toContain(kept);
  },
);

const namesIn = (one: JsonValue): string[] => (isJsonObject(one) ? Object.keys(one) : []);

function widestOf({ fields = {}, map, items }: OutputShape): number {
  const inner = [...Object.values(fields), ...(map ? [map] : []), ...(items ? [items] : [])];
  return Math.max(Object.keys(fields).length, 0, ...inner.map(widestOf));
}
