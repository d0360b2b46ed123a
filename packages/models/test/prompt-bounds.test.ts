import { fc, test } from "@fast-check/vitest";
import {
  type DraftInput,
  draftMessages,
  estimateTokens,
  MAX_PROMPT_TOKENS,
  type ReplanStep,
  toolsForPrompt,
} from "@planwright/models";
import type { Diagnostic } from "@planwright/plan";
import { describe, expect } from "vitest";
import { thousandTools } from "./thousand-tools/thousand-tools.ts";

type Asked = Omit<DraftInput, "tools" | "signal">;

const tools = thousandTools();
/** Tokens for the answer's schema and for the parts that providers add around messages. */
const RESERVED = 420;
/** Maximum of tokens of a request with which the prompt keeps its bound; a note counts with the request. */
const WITHIN_BOUND = { draft: 5_000, repair: 3_500, replan: 3_600, replanRepair: 2_100 };

const cost = (input: Asked) => {
  const shown = toolsForPrompt({ ...input, tools });
  const messages = draftMessages({ ...input, tools: shown.tools });
  const spent = messages.reduce((sum, { content }) => sum + estimateTokens(content), RESERVED);
  return { spent, messages, shown: shown.tools.length };
};
const tokensOf = (text: string) => estimateTokens(JSON.stringify(text).replaceAll("<", "\\u003c"));
const boundFor = ({ repair, replan }: Asked) =>
  replan
    ? repair
      ? WITHIN_BOUND.replanRepair
      : WITHIN_BOUND.replan
    : repair
      ? WITHIN_BOUND.repair
      : WITHIN_BOUND.draft;

/** Usual and expensive texts: words, Cyrillic, CJK, emoji, characters that JSON or the block escapes. */
const PIECES = [
  "create an author named Alice, then send a mail to her. ",
  "создай автора и отправь письмо ",
  "作者を作成してメールを送信する",
  "🦊👩‍👩‍👧",
  "<<<</tools>",
  '"\\\n\u0001',
];
const textOf = (maxLength: number) =>
  fc
    .tuple(fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 3 }), fc.nat(maxLength))
    .map(([pieces, length]) =>
      pieces
        .join("")
        .repeat(Math.ceil(length / 5))
        .slice(0, length),
    );

const diagnostics: fc.Arbitrary<Diagnostic[]> = fc.array(
  fc.record(
    {
      code: fc.constant("TOOL_UNKNOWN" as const),
      severity: fc.constant("error" as const),
      stepId: textOf(80),
      path: textOf(300),
      message: textOf(1_000),
      suggestion: textOf(300),
    },
    { requiredKeys: ["code", "severity", "message"] },
  ),
  { minLength: 1, maxLength: 40 },
);
const repair = fc.record({ previous: textOf(60_000), diagnostics });
const step: fc.Arbitrary<ReplanStep> = fc.record({
  id: fc.stringMatching(/^[a-z]{1,20}$/),
  tool: fc.constantFrom("createAuthor", "sendEmail", "工具".repeat(60)),
  call: fc.record({ text: textOf(2_000) }),
  isList: fc.constant(false),
  status: fc.constantFrom("finished", "failed", "not run", "finished, closed"),
  output: fc.record({ text: textOf(2_000) }),
  error: fc.record({ code: fc.constant("TOOL_FAILED"), message: textOf(600) }),
});
const replan = fc.record({
  steps: fc.array(step, { minLength: 1, maxLength: 130 }),
  note: fc.option(textOf(1_000)),
});
const asked: fc.Arbitrary<Asked> = fc.record(
  { query: textOf(10_000), repair, replan },
  { requiredKeys: ["query"] },
);

/** The runs of a long property: `npm test` draws a tenth of them, `npm run proof` the others, with another seed. */
const partsOf = (runs: number): { numRuns: number; options: { tags?: string[] } }[] => [
  { numRuns: runs / 10, options: {} },
  { numRuns: (runs * 9) / 10, options: { tags: ["proof"] } },
];

describe("a planning prompt with 1,000 tools", () => {
  for (const { numRuns, options } of partsOf(150))
    describe(`drawn ${numRuns} times`, options, () => {
      test.prop([asked], { numRuns })("is bounded for every request, repair and replan", (input) => {
        const { spent, messages, shown } = cost(input);
        const request = tokensOf(input.query) + tokensOf(input.replan?.note ?? "");
        if (request <= boundFor(input)) expect(spent).toBeLessThanOrEqual(MAX_PROMPT_TOKENS);
        expect(spent).toBeLessThanOrEqual(input.repair || input.replan ? 18_000 : 14_000);
        expect(shown).toBeGreaterThan(0);
        // Only requests above 11,000 tokens are cut, and the first diagnostic is always in the prompt.
        if (tokensOf(input.query) <= 11_000)
          expect(messages[1]?.content).toContain(JSON.stringify(input.query).replaceAll("<", "\\u003c"));
        if (input.repair) expect(messages.at(-1)?.content).toContain('{"code":"TOOL_UNKNOWN"');
      });
    });

  test.each([
    ["ASCII", "create an author and a blog. ", 10_000],
    ["Cyrillic", "создай автора и блог, ", 5_000],
    ["CJK", "作者とブログを作成する", 5_000],
  ])("is within 8,000 tokens for requests of %s up to the documented length", (_, piece, max) => {
    for (let length = 0; length <= max; length += 499) {
      const query = piece.repeat(Math.ceil(max / piece.length)).slice(0, Math.min(length, max - 10));
      expect(cost({ query }).spent).toBeLessThanOrEqual(MAX_PROMPT_TOKENS);
    }
  });
});

test.each([1_000, 9_000, 16_000])("facts of %d characters count with the request", (length) => {
  const facts = { note: "a fact of the caller's own. ".repeat(1_000).slice(0, length) };
  const context = { now: new Date(0), timezone: "Europe/Berlin", locale: "de-DE", facts };
  const cut = (tokens: number) => "create an author and a blog. ".repeat(1_000).slice(0, tokens * 3);
  const query = cut(Math.max(0, WITHIN_BOUND.draft - tokensOf(JSON.stringify(facts)) - 100));
  const { spent, messages } = cost({ query, context });
  expect(messages[1]?.content).toContain(facts.note.trim());
  if (query !== "") expect(spent).toBeLessThanOrEqual(MAX_PROMPT_TOKENS);
  expect(cost({ query: cut(11_000), context }).spent).toBeLessThanOrEqual(14_000 + 5_600);
});

describe("a repair marks the parts that are left out", () => {
  const query = "create an author";
  const diagnostic = (message: string): Diagnostic => ({ code: "TOOL_UNKNOWN", severity: "error", message });
  const repaired = (previous: string, found: Diagnostic[], catalogue = tools) => {
    const asked = { query, repair: { previous, diagnostics: found } };
    return draftMessages({ ...asked, tools: toolsForPrompt({ ...asked, tools: catalogue }).tools });
  };

  test("a long answer keeps its head and tail, with a mark between them", () => {
    const content = repaired(`{"steps":[${"x".repeat(60_000)}]}END`, [diagnostic("m")])[2]?.content ?? "";
    const [, head = "", left, tail = ""] = /^(.*)\n\[(\d+) characters left out\]\n(.*)$/s.exec(content) ?? [];
    expect([head.startsWith('{"steps":['), tail.endsWith("]}END")]).toEqual([true, true]);
    expect(head.length + Number(left) + tail.length).toBe(60_015);
  });

  test("a long answer is complete when the tools leave enough tokens", () => {
    const previous = "x".repeat(15_000);
    expect(repaired(previous, [diagnostic("m")], tools.slice(0, 5))[2]?.content).toBe(previous);
    expect(repaired(previous, [diagnostic("m")])[2]?.content).not.toBe(previous);
  });

  test("diagnostics that do not fit are shortened, then counted", () => {
    const found = (count: number) =>
      repaired(
        "{}",
        Array.from({ length: count }, () => diagnostic("нет такого инструмента ".repeat(20))),
      ).at(-1)?.content ?? "";
    expect(found(1)).toContain("нет такого инструмента ".repeat(20).trim());
    const lines = found(60).split("\n").slice(1, -1);
    expect(lines.at(-1)).toBe(`{"findings":"${60 - (lines.length - 1)} more"}`);
    expect(lines.length).toBeGreaterThan(5);
  });
});

for (const { numRuns, options } of partsOf(30))
  describe(`drawn ${numRuns} times`, options, () => {
    test.prop([textOf(40_000)], { numRuns })(
      "a request that is too long is cut in its middle, with a mark",
      (query) => {
        const { messages, spent } = cost({ query });
        expect(spent).toBeLessThanOrEqual(14_000);
        const request = /<request>\n(.*)\n<\/request>$/.exec(messages[1]?.content ?? "")?.[1] ?? "";
        const shown: unknown = JSON.parse(request);
        if (tokensOf(query) > 11_000) expect(shown).toMatch(/\n\[\d+ characters left out\]\n/);
        else expect(shown).toBe(query);
      },
    );
  });
