import { DOMAINS, type Expected } from "../../../../offline/test/offline-corpus.ts";
import type { Ending, EvalCase } from "./eval-case.ts";
import { planEnding } from "./plan-ending.ts";

/** Requests that the offline drafter plans, asks about or refuses. */
export function offlineCases(): EvalCase[] {
  return DOMAINS.flatMap(({ domain, tools, cases }) =>
    cases.map(({ query, context, expected }) => ({
      id: `offline/${domain}: ${query}${context ? ` (${context.now.toISOString()} ${context.timezone})` : ""}`,
      source: "offline" as const,
      domain,
      query,
      context,
      tools,
      answers: [],
      wanted: endingOf(expected),
    })),
  );
}

function endingOf(expected: Expected): Ending {
  if ("steps" in expected) return planEnding(expected.steps);
  if ("missing" in expected) return { type: "questions", missing: expected.missing.toSorted() };
  return { type: "refusal", code: "NOT_UNDERSTOOD" };
}
