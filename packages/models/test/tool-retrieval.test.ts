import {
  directTools,
  draftMessages,
  estimateTokens,
  MAX_PROMPT_TOKENS,
  toolsForPrompt,
} from "@planwright/models";
import { describe, expect, test } from "vitest";
import { offerTools } from "../src/direct-calls.ts";
import PLAIN_CASES from "./thousand-tools/cases.json" with { type: "json" };
import CONTRACT_CASES from "./thousand-tools/contract-cases.json" with { type: "json" };
import { thousandTools } from "./thousand-tools/thousand-tools.ts";

/** The contract cases need tools that the query does not mention. */
const CASES = [...PLAIN_CASES, ...CONTRACT_CASES];
const tools = thousandTools();
const names = new Set(tools.map(({ name }) => name));

/** Runs one case like a planner: the shown tools, the missing ones, and the tokens of the prompt. */
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

  test("the catalogue has 1,000 unique names, and the cases name only tools that exist", () => {
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

  test("tools that contracts require are shown in all cases, and in more than 5 of 100 cases only because of the contract", () => {
    const missed = CONTRACT_CASES.map(run).filter(({ missing }) => missing.length > 0);
    expect(missed).toEqual([]);
    const loose = tools.map((tool) => ({ ...tool, "x-orchestration": undefined }));
    const lost = CONTRACT_CASES.filter(({ query, tools: wanted }) => {
      const shown = new Set(toolsForPrompt({ query, tools: loose }).tools.map(({ name }) => name));
      return wanted.some((name) => !shown.has(name));
    });
    expect(lost.length / CASES.length).toBeGreaterThan(0.05);
  });

  test("every prompt stays under 8,000 tokens", () => {
    expect(MAX_PROMPT_TOKENS).toBe(8_000);
    expect(results.filter(({ tokens }) => tokens >= MAX_PROMPT_TOKENS)).toEqual([]);
  });

  test("directly offered tools cost at most 1,500 tokens, and tools with many fields need a plan", () => {
    const direct = CASES.flatMap(({ query }) => {
      const offered = directTools(query, tools);
      return offered ? [{ query, offered }] : [];
    });
    expect(direct.length).toBeGreaterThan(10);
    for (const { offered } of direct) {
      const offers = [...(offerTools(offered)?.values() ?? [])].map(({ offer }) => offer);
      expect(offers).toHaveLength(offered.length);
      expect(estimateTokens(JSON.stringify(offers))).toBeLessThan(1_510);
    }
    const wide = tools.map((tool) => ({ ...tool, inputSchema: { ...tool.inputSchema, ...WIDE } }));
    expect(direct.filter(({ query }) => directTools(query, wide) !== null)).toEqual([]);
  });
});

/** 60 optional fields. */
const WIDE = {
  properties: Object.fromEntries(
    Array.from({ length: 60 }, (_, index) => [
      `field${index}`,
      { type: "string", description: "x".repeat(100) },
    ]),
  ),
};
