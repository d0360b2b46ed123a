import { readModelAnswer } from "@planwright/reading";
import { describe, expect, test } from "vitest";
import { TOOLS } from "./answers/base-plans.ts";

const read = (text: string) => readModelAnswer(text, { tools: TOOLS, query: "List all authors" });

describe("hostile answers", () => {
  const pieces = [
    "[",
    "`",
    '"',
    "'",
    "\\",
    '{"',
    "{'",
    '\\"{',
    '{"a":',
    "[[1],",
    '["a"b ',
    "/*",
    "</think>\n",
    "```json\n{",
    '{"steps":[]} ',
    "{{a.b}} ",
    "{“a”:",
  ];
  for (const { cases, options } of [
    { cases: ["{", '"{', "<think>", '{"tool":"a"} '], options: {} },
    { cases: pieces, options: { tags: ["proof"] } },
  ])
    test.for(cases)("%j, 100,000 times or up to 1 MB, is refused", options, (repeated) => {
      const text = repeated.repeat(Math.min(100_000, Math.floor(1_000_000 / repeated.length)));
      expect(read(text).ok).toBe(false);
      expect(read(`${text}}]"`).ok).toBe(false);
    });

  test.each([
    ["numbers", Array.from({ length: 450_000 }, () => 7)],
    ["fields", Object.fromEntries(Array.from({ length: 80_000 }, (_, index) => [`k${index}`, 1]))],
  ])("an argument with very many %s is read without an exception", (_, value) => {
    const steps = [{ tool: "listAuthors", arguments: { value } }];
    expect(read(JSON.stringify({ steps }))).toMatchObject({ diagnostics: expect.any(Array) });
  });

  test("a member named __proto__ changes nothing, and its plan is refused by its path", () => {
    const answer = read(
      '{"steps":[{"tool":"listAuthors","arguments":{"__proto__":{"isAdmin":true}},"__proto__":{"tool":"x"}}],"__proto__":{"steps":[]}}',
    );
    expect(answer.ok).toBe(false);
    expect(answer.diagnostics.map(({ message }) => message).join()).toContain(".__proto__ has a name");
    expect(Reflect.get({}, "isAdmin")).toBeUndefined();
  });

  test("more than 1 MiB is refused without parsing", () => {
    const plan = '[{"tool":"listAuthors"}]';
    expect(read(plan + " ".repeat(1_048_576 - plan.length)).ok).toBe(true);
    expect(read(`${plan}${" ".repeat(1_048_576 - plan.length)} `).diagnostics[0]?.code).toBe("LIMIT_BYTES");
    expect(read(plan + "é".repeat(524_288)).diagnostics[0]?.code).toBe("LIMIT_BYTES");
  });
});
