import { type JsonValue, parseExactJson } from "@planwright/plan";
import { expect, test } from "vitest";
import { measureValue, previewOf } from "./outputs.ts";

const nested = (depth: number): JsonValue => JSON.parse(`${"[".repeat(depth)}${"]".repeat(depth)}`);

test.each<[string, JsonValue, boolean]>([
  ["32 KiB", "x".repeat(32_766), true],
  ["32 KiB and one byte", "x".repeat(32_767), false],
  ["32 KiB in characters, but more in bytes", "é".repeat(32_000), false],
  ["50 levels", nested(50), true],
  ["51 levels", nested(51), false],
  ["a key with NUL", { "a\0b": 1 }, false],
  ["a text with NUL", "a\0b", true],
  ["a lone surrogate", ["\ud83d"], false],
  ["a lone surrogate in a key", { "\ude00": 1 }, false],
  ["a surrogate pair", "🙂", true],
  ["a reference as MongoDB writes it", { $ref: "c", $id: 1 }, false],
  ["a reference as JSON Schema writes it", { $ref: "#/definitions/a" }, true],
  ["a key that names types of BSON", [{ _bsontype: "Long" }], false],
  ["operators", { $where: "1", a: { $set: { b: 1 } }, "x.y": "$$NOW" }, true],
])("%s: whether it fits in the entry", (_, value, fits) => {
  expect(measureValue(value).fits).toBe(fits);
});

test("a preview is the first KiB of the JSON text, without a partial character", () => {
  const measured = measureValue({ text: `a${"🙂".repeat(20_000)}` });
  const preview = measured.fits ? undefined : previewOf(measured);
  expect(preview).toEqual({ sizeBytes: 80_012, preview: expect.stringMatching(/^\{"text":"a🙂+$/u) });
  expect(Buffer.byteLength(preview?.preview ?? "")).toBeGreaterThan(1_024 - 4);
  expect(Buffer.byteLength(preview?.preview ?? "")).toBeLessThanOrEqual(1_024);
});

test("a value that is stored as text has its numbers with all digits", () => {
  const text = `{"id":7205759403792793601,"text":"${"x".repeat(40_000)}"}`;
  expect(measureValue(parseExactJson(text))).toMatchObject({ fits: false, text, sizeBytes: text.length });
});
