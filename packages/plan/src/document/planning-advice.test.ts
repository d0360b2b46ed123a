import { expect, test } from "vitest";
import { planningAdvice } from "./planning-advice.ts";

test("the remedy is a complete sentence, with or without sending again", () => {
  expect(planningAdvice("MODEL_RATE_LIMITED").remedy).toBe("Wait a little; then send it again.");
  expect(planningAdvice("MODEL_ANSWER_TRUNCATED").remedy).toBe(
    "Raise MODEL_MAX_OUTPUT_TOKENS of the planner, or ask for fewer steps; then send it again.",
  );
});

test.each(["SOMETHING_NEW", "constructor", "__proto__"])("an unknown code %s has advice", (code) => {
  expect(planningAdvice(code)).toMatchObject({ action: "other", remedy: expect.stringMatching(/\.$/) });
});
