import { draftMessages, estimateTokens, MAX_PROMPT_TOKENS, toolsForPrompt } from "@planwright/models";
import { describe, expect, test } from "vitest";
import CASES from "./thousand-tools/cases.json" with { type: "json" };
import { thousandTools } from "./thousand-tools/thousand-tools.ts";

const tools = thousandTools();
const names = new Set(tools.map(({ name }) => name));

/** One case as a planner meets it: what is shown, what is missing, what the whole prompt costs. */
function run({ query, tools: wanted }: (typeof CASES)[number]) {
  const startedAt = performance.now();
  const shown = toolsForPrompt({ query, tools });
  const tookMs = performance.now() - startedAt;
  const shownNames = new Set(shown.tools.map(({ name }) => name));
  const messages = draftMessages({ query, tools: shown.tools });
  return {
    query,
    missing: wanted.filter((name) => !shownNames.has(name)),
    tokens: messages.reduce((sum, { content }) => sum + estimateTokens(content), 0),
    shown: shown.tools.length,
    tookMs,
  };
}

describe("1,000 tools", () => {
  const results = CASES.map(run);

  test("the catalogue holds them, each under a name of its own, and the cases name only what exists", () => {
    expect(names.size).toBe(1_000);
    expect(CASES.flatMap((each) => each.tools).filter((name) => !names.has(name))).toEqual([]);
    expect(CASES.length).toBeGreaterThanOrEqual(80);
  });

  test("in at least 95 of 100 cases all right tools are shown", () => {
    const failed = results.filter(({ missing }) => missing.length > 0);
    const held = (results.length - failed.length) / results.length;
    const times = results.map(({ tookMs }) => tookMs).toSorted((one, other) => one - other);
    const figures = {
      cases: results.length,
      held: `${(held * 100).toFixed(1)} %`,
      catalogueTokens: estimateTokens(draftMessages({ query: "", tools })[1]?.content ?? ""),
      largestPrompt: Math.max(...results.map(({ tokens }) => tokens)),
      meanPrompt: Math.round(results.reduce((sum, { tokens }) => sum + tokens, 0) / results.length),
      medianMs: times[Math.floor(times.length / 2)]?.toFixed(1),
      slowestMs: times.at(-1)?.toFixed(1),
    };
    process.stdout.write(`tool retrieval: ${JSON.stringify(figures)}\n`);
    for (const { query, missing } of failed)
      process.stdout.write(`  missing ${missing.join(", ")}: ${query}\n`);
    expect(held).toBeGreaterThanOrEqual(0.95);
  });

  test("every prompt stays under 8,000 tokens", () => {
    expect(MAX_PROMPT_TOKENS).toBe(8_000);
    expect(results.filter(({ tokens }) => tokens >= MAX_PROMPT_TOKENS)).toEqual([]);
  });
});
