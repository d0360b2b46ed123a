import { parsePlan } from "@planwright/plan";
import { describe, expect, test } from "vitest";
import { answerTo, CASES, DOMAINS } from "./offline-corpus.ts";

describe.each(DOMAINS)("$domain", ({ tools, cases }) => {
  test.each(cases)("answers as the corpus expects: $query", ({ query, context, expected }) => {
    expect(answerTo({ query, context, tools })).toEqual(expected);
  });

  test.each(cases.filter(({ expected }) => "steps" in expected))(
    "makes a valid plan: $query",
    ({ query, context }) => {
      const answer = answerTo({ query, context, tools });
      const { diagnostics } = parsePlan(answer, { tools });
      expect(diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
    },
  );
});

test("the corpus holds at least 120 requests in at least 8 domains", () => {
  expect(DOMAINS.length).toBeGreaterThanOrEqual(8);
  expect(CASES.length).toBeGreaterThanOrEqual(120);
});
