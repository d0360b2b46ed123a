import { expect, test } from "vitest";
import { readModelAnswer } from "./read-model-answer.ts";

const found = (answer: object) =>
  readModelAnswer(JSON.stringify(answer), { tools: [{ name: "a" }] }).diagnostics.map(({ code, message }) => [
    code,
    message,
  ]);

test.each([
  [
    { steps: [], missing: "the address of Alice" },
    [["ANSWER_ASKS", "Please say what is missing: the address of Alice"]],
  ],
  [{ steps: [], missing: ["Which account?"] }, [["ANSWER_ASKS", "Which account?"]]],
  [{ question: "Which\u0007 \n day?" }, [["ANSWER_ASKS", "Which day?"]]],
  [
    { questions: ["a?", "b?", "b?", "c?", "d?"] },
    [
      ["ANSWER_ASKS", "a?"],
      ["ANSWER_ASKS", "b?"],
      ["ANSWER_ASKS", "c?"],
    ],
  ],
  [
    { steps: [], missing: "There is no tool to print labels." },
    [["ANSWER_DECLINED", "The model gives no plan: There is no tool to print labels."]],
  ],
  [
    { steps: [], missing: ["None of the available tools can order groceries"] },
    [["ANSWER_DECLINED", "The model gives no plan: None of the available tools can order groceries"]],
  ],
  [
    { steps: [], missing: [], impossible: "nothing here bakes bread" },
    [["ANSWER_DECLINED", "The model gives no plan: nothing here bakes bread"]],
  ],
  ...["No title was given", "No e-mail address for Bob", "Nothing was said about the day"].map(
    (missing): [object, string[][]] => [
      { steps: [{ tool: "a" }], missing: [missing] },
      [["ANSWER_ASKS", `Please say what is missing: ${missing}`]],
    ],
  ),
  [{ error: "what?" }, [["ANSWER_DECLINED", "The model gives no plan: what?"]]],
])("%j", (answer, expected) => {
  expect(found(answer)).toEqual(expected);
});

test("a question is cut to a short text", () => {
  expect(found({ question: "x".repeat(5_000) })[0]?.[1]?.length).toBeLessThan(400);
});

test.each([
  "None",
  "no.",
  "N/A",
  "None: all are given",
  "No further information is needed",
  "Nothing is missing",
])("%j is no question", (missing) => {
  expect(found({ steps: [{ tool: "a" }], missing }).map(([code]) => code)).not.toContain("ANSWER_ASKS");
});
