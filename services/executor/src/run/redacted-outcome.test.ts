import { expect, test } from "vitest";
import { redactedOutcome } from "./calls.ts";

test("the error of a tool is stored without secrets, an output unchanged", () => {
  const error = {
    code: "TOOL_FAILED",
    message: "no route to mongodb://ann:hidden@host",
    retryable: true,
    data: { sent: { apiKey: "hidden" } },
  };
  expect(redactedOutcome({ type: "failed", error, effect: "none", retryAfterMs: 5 })).toEqual({
    type: "failed",
    error: {
      code: "TOOL_FAILED",
      message: "no route to mongodb://[redacted]@host",
      retryable: true,
      data: { sent: { apiKey: "[redacted]" } },
    },
    effect: "none",
    retryAfterMs: 5,
  });
  const completed = { type: "completed" as const, output: { token: "needed by the next step" } };
  expect(redactedOutcome(completed)).toBe(completed);
});
