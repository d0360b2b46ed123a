import { expect, test } from "vitest";
import { STEP_ERROR_CODES } from "../state/protocol.ts";
import { remedyWhile, stepAdvice } from "./step-advice.ts";

test.each(STEP_ERROR_CODES)("%s: the meaning and the remedy are complete sentences", (code) => {
  const { why, remedy } = stepAdvice(code, "blog");
  for (const sentence of [why, remedy]) expect(sentence).toMatch(/^[A-Z][^{}]+\.$/);
});

test.each(STEP_ERROR_CODES)("%s: the remedy is for people and names no operation of the API", (code) => {
  const unit = { status: "FAILED", effect: "possible", effectClass: "U", error: { code } } as const;
  const remedies = [
    stepAdvice(code).remedy,
    stepAdvice(code, "blog", unit).remedy,
    remedyWhile("in doubt", code),
  ];
  for (const remedy of remedies) expect(remedy).not.toMatch(/resolveInDoubt|acceptRepeat|amend/);
});

test("the remedy names the server when it is known", () => {
  expect(stepAdvice("TOOL_UNREACHABLE", "blog").remedy).toBe('Bring "blog" back; then rerun the plan.');
  expect(stepAdvice("TOOL_UNREACHABLE").remedy).toBe("Bring its server back; then rerun the plan.");
});

test("a code that the tool itself reported gets the advice for TOOL_FAILED", () => {
  expect(stepAdvice("EMAIL_TAKEN")).toEqual(stepAdvice("TOOL_FAILED"));
});

test("a unit in doubt is settled first, and a unit that is tried again needs no rerun", () => {
  for (const code of STEP_ERROR_CODES) {
    expect(remedyWhile("in doubt", code)).toBe(
      "Check in its server whether the call happened, and settle it.",
    );
    expect(remedyWhile("tried again", code)).toMatch(/^[A-Z].*t is retried automatically\.$/);
  }
  expect(remedyWhile("tried again", "TOOL_UNREACHABLE")).toBe(
    "Bring its server back; it is retried automatically.",
  );
});
