import { expect, test } from "vitest";
import { planningAdvice, remedyOfProblem } from "./planning-advice.ts";

test("the remedy is a complete sentence, with or without sending again", () => {
  expect(planningAdvice("MODEL_RATE_LIMITED").remedy).toBe("Wait a little; then send it again.");
  expect(planningAdvice("MODEL_ANSWER_TRUNCATED").remedy).toBe(
    "Raise MODEL_MAX_OUTPUT_TOKENS of the planner, or ask for fewer steps; then send it again.",
  );
});

test.each(["SOMETHING_NEW", "constructor", "__proto__"])("an unknown code %s has advice", (code) => {
  expect(planningAdvice(code)).toMatchObject({ action: "other", remedy: expect.stringMatching(/\.$/) });
});

test("only where nothing was executed the remedy says so, and to send the request again", () => {
  expect(remedyOfProblem("MODEL_UNREACHABLE", "first plan")).toBe(
    "The model's provider could not be reached, or failed; nothing was executed. Check that the planner can reach the provider; then send it again.",
  );
  expect(remedyOfProblem("MODEL_UNREACHABLE", "replan")).toBe(
    "The model's provider could not be reached, or failed. The steps that completed are kept: do not send the request again. Rerun those that did not complete, or replan the rest once the cause is gone.",
  );
  expect(remedyOfProblem("MODEL_UNREACHABLE", "answer")).toBe(
    "The model's provider could not be reached, or failed. Only the results in words are missing: read the outputs of the plan, and do not send the request again.",
  );
  expect(remedyOfProblem("PLAN_NOT_COMPLETED", "answer")).toBe(
    "The plan did not complete, so there are no results to describe: its steps say why.",
  );
  expect(remedyOfProblem("MODEL_UNREACHABLE", "wait")).toBe(
    "The model's provider could not be reached, or failed. Check that the planner can reach the provider. It continues by itself: do not send the request again.",
  );
  expect(remedyOfProblem("MODEL_UNREACHABLE", "event")).toBe(
    "The model's provider could not be reached, or failed. The request shows what followed from it.",
  );
  const places = ["replan", "answer", "wait", "event"] as const;
  for (const code of ["PLAN_INVALID", "BUDGET_EXCEEDED", "PLAN_TOO_LARGE", "POISONED", "SOMETHING_NEW"])
    for (const place of places)
      expect(remedyOfProblem(code, place)).not.toMatch(
        /nothing (of it )?was|; then send it again|No plan was made/,
      );
});
