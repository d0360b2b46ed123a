import { estimateTokens } from "@planwright/models";
import { expect, test } from "vitest";
import { answerSchema } from "../../../../models/src/prompts/answer-schema.ts";
import { contextText } from "../../../../models/src/prompts/context-text.ts";
import { planLanguage } from "../../../../models/src/prompts/plan-language.ts";
import { systemPrompt } from "../../../../models/src/prompts/system-prompt.ts";
import { modelCases } from "./model-cases.ts";
import { offlineCases } from "./offline-cases.ts";

/**
 * What the prompts of the requests below cost in all, and what rules and form of the answer cost in each of
 * them, when plans could hold nothing but calls, references and order: recorded on 2026-11-23, in estimated
 * tokens.
 */
const BEFORE = { requests: 342, prompts: 556_943, rulesAndForm: 684 };

const costOf = (query: string) => {
  const language = planLanguage({ query });
  return (
    estimateTokens(systemPrompt(language)) + estimateTokens(JSON.stringify(answerSchema(language, false)))
  );
};

/** Now without a context of the caller, as a prompt says it. */
const NOW = estimateTokens(
  contextText("", { now: new Date("2026-11-25T08:52:11Z"), timezone: "UTC", locale: null, facts: {} }),
);

/**
 * Requests whose plans need calls, references and order alone, and nothing that only a caller's context
 * gives; each once.
 */
const plainRequests = () => [
  ...new Map(
    [...offlineCases(), ...modelCases()]
      .filter(({ domain }) => domain !== "now-and-here")
      .map((each) => [`${each.domain}: ${each.query}`, each]),
  ).values(),
];

test("over all requests that need nothing of it, the plan language and the line that says now cost at most 5 % of the prompts", () => {
  const requests = plainRequests();
  expect(requests).toHaveLength(BEFORE.requests);
  const more = requests.map(({ query }) => costOf(query) + NOW - BEFORE.rulesAndForm);
  expect(more.reduce((sum, tokens) => sum + tokens, 0)).toBeLessThanOrEqual(BEFORE.prompts * 0.05);
});

test("a request that is plainly a few calls costs not a token more", () => {
  expect(
    costOf("Create author Alice with email alice@test.com, then create blog by Alice titled Hello"),
  ).toBeLessThanOrEqual(BEFORE.rulesAndForm);
  const same = plainRequests().filter(({ query }) => costOf(query) <= BEFORE.rulesAndForm);
  expect(same.length / BEFORE.requests).toBeGreaterThan(0.6);
});
