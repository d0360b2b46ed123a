import { LARGE_JSON_BYTES } from "@planwright/plan";
import { expect, test } from "vitest";
import { sentOutput } from "./read-large-answer.ts";

test("an output is sent as text when its JSON is large in bytes, whatever its number of characters", () => {
  const short = "ä".repeat(LARGE_JSON_BYTES / 2);
  expect(sentOutput(short, undefined).output).toMatchObject({ sizeBytes: LARGE_JSON_BYTES + 2 });
  expect(sentOutput(short.slice(1), undefined).output).toEqual({ value: short.slice(1) });
});
