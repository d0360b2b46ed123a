import { expect, test } from "vitest";
import { BadInputError } from "../errors/api-error.ts";
import { readPlanInput } from "./plan-input.ts";

test("a value is kept as its JSON text", () => {
  expect(readPlanInput({ steps: [] })).toEqual({ value: { steps: [] }, raw: '{"steps":[]}' });
});

test("JSON text is parsed, and kept unchanged", () => {
  expect(readPlanInput(' {"steps": []}')).toEqual({ value: { steps: [] }, raw: ' {"steps": []}' });
});

test("other text is passed on unchanged", () => {
  expect(readPlanInput("do it")).toEqual({ value: "do it", raw: "do it" });
});

test.each<[string, unknown]>([
  ["deeper than 90 levels", JSON.parse(`${"[".repeat(100)}${"]".repeat(100)}`)],
  ["100,000 levels deep", JSON.parse(`${"[".repeat(100_000)}${"]".repeat(100_000)}`)],
  ["100,000 levels deep as text", `${"[".repeat(100_000)}${"]".repeat(100_000)}`],
  ["more than 1 MiB", { text: "x".repeat(1_048_576) }],
  ["more than 1 MiB of text", "é".repeat(600_000)],
  ["with NUL in a key", { list: [{ "a\0": 1 }] }],
])("a plan %s is refused", (_, plan) => {
  expect(() => readPlanInput(plan)).toThrow(BadInputError);
});
