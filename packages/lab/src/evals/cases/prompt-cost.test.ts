import { estimateTokens } from "@planwright/models";
import { expect, test } from "vitest";
import { answerSchema } from "../../../../models/src/prompts/answer-messages.ts";
import { contextText } from "../../../../models/src/prompts/draft-messages.ts";
import { planLanguage, systemPrompt } from "../../../../models/src/prompts/system-prompt.ts";
import { modelCases } from "./model-cases.ts";
import { offlineCases } from "./offline-cases.ts";

/**
 * Costs in estimated tokens, recorded on 2026-11-23, when plans could hold only calls, references and order:
 * of the prompts of all requests below together, and of the rules and the answer's schema in each prompt.
 */
const BEFORE = { requests: 342, prompts: 556_943, rulesAndForm: 684 };

const costOf = (query: string) => {
  const language = planLanguage({ query });
  return (
    estimateTokens(systemPrompt(language)) + estimateTokens(JSON.stringify(answerSchema(language, false)))
  );
};

/** Cost of the lines about time and place in a prompt without a caller's context. */
const NOW = estimateTokens(
  contextText("", { now: new Date("2026-11-25T08:52:11Z"), timezone: "UTC", locale: null, facts: {} }),
);

/** Requests whose plans need only calls, references and order, and no caller's context; each once. */
const plainRequests = () => [
  ...new Map(
    [...offlineCases(), ...modelCases()]
      .filter(({ domain }) => domain !== "now-and-here")
      .map((each) => [`${each.domain}: ${each.query}`, each]),
  ).values(),
];

test("for requests that need neither, the plan language and the line with the time cost at most 5 % of the prompts", () => {
  const requests = plainRequests();
  expect(requests).toHaveLength(BEFORE.requests);
  const more = requests.map(({ query }) => costOf(query) + NOW - BEFORE.rulesAndForm);
  expect(more.reduce((sum, tokens) => sum + tokens, 0)).toBeLessThanOrEqual(BEFORE.prompts * 0.05);
});

test("a request that clearly needs only a few calls costs no additional token", () => {
  expect(
    costOf("Create author Alice with email alice@test.com, then create blog by Alice titled Hello"),
  ).toBeLessThanOrEqual(BEFORE.rulesAndForm);
  const same = plainRequests().filter(({ query }) => costOf(query) <= BEFORE.rulesAndForm);
  expect(same.length / BEFORE.requests).toBeGreaterThan(0.6);
});
