import { expect, test } from "vitest";
import { STEP_ERROR_CODES } from "../protocol.ts";
import { stepAdvice } from "./step-advice.ts";

test.each(STEP_ERROR_CODES)("%s: what it means and what to do are whole sentences", (code) => {
  const { why, remedy } = stepAdvice(code, "blog");
  for (const said of [why, remedy]) expect(said).toMatch(/^[A-Z][^{}]+\.$/);
});

test("the server is named where it is known", () => {
  expect(stepAdvice("TOOL_UNREACHABLE", "blog").remedy).toBe('Bring "blog" back; then rerun the plan.');
  expect(stepAdvice("TOOL_UNREACHABLE").remedy).toBe("Bring its server back; then rerun the plan.");
});

test("a code of a tool's own is advised on like a refusal of the tool", () => {
  expect(stepAdvice("EMAIL_TAKEN")).toEqual(stepAdvice("TOOL_FAILED"));
});
