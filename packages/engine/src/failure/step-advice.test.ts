import { expect, test } from "vitest";
import { STEP_ERROR_CODES } from "../state/protocol.ts";
import { remedyWhile, stepAdvice } from "./step-advice.ts";

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

test("what is in doubt is settled first, and what is tried again needs no rerun", () => {
  for (const code of STEP_ERROR_CODES) {
    expect(remedyWhile("in doubt", code)).toBe(
      "Look in its server whether it did, and say so with resolveInDoubt.",
    );
    expect(remedyWhile("tried again", code)).toMatch(/^[A-Z].*t is tried again by itself\.$/);
  }
  expect(remedyWhile("tried again", "TOOL_UNREACHABLE")).toBe(
    "Bring its server back; it is tried again by itself.",
  );
});
