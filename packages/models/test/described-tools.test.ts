import { toolsForPrompt } from "@planwright/models";
import { bareName } from "@planwright/plan";
import { describe, expect, test } from "vitest";
import CASES from "./thousand-tools/described-only.json" with { type: "json" };
import { thousandTools } from "./thousand-tools/thousand-tools.ts";

const tools = thousandTools();
const byName = new Map(tools.map((tool) => [tool.name, tool]));
const shownFor = (query: string) => new Set(toolsForPrompt({ query, tools }).tools.map(({ name }) => name));

describe("queries without the names of their tools, among 1,000 tools", () => {
  test("each case names tools that exist, and contains no name of them without its server", () => {
    const named = CASES.flatMap(({ query, tools: wanted }) => wanted.map((name) => ({ query, name })));
    expect(named.filter(({ name }) => !byName.has(name))).toEqual([]);
    const quoted = named.filter(({ query, name }) => {
      const tool = byName.get(name);
      return tool && !query.includes(name) && query.includes(bareName(tool));
    });
    expect(quoted).toEqual([]);
  });

  test("in at least 95 of 100 cases all right tools are shown", () => {
    const missing = CASES.flatMap(({ query, tools: wanted }) => {
      const shown = shownFor(query);
      const lost = wanted.filter((name) => !shown.has(name));
      return lost.length > 0 ? [`${query}: ${lost.join(", ")}`] : [];
    });
    for (const line of missing) process.stdout.write(`  missing ${line}\n`);
    expect(1 - missing.length / CASES.length).toBeGreaterThanOrEqual(0.95);
  });
});

test("a tool that is named with its server is shown, and the tool of the same name on the other server is found by its words", () => {
  const shown = shownFor("Use crm-us/close_deal for deal 9: it is lost");
  expect(shown.has("crm-us/close_deal")).toBe(true);
  const both = shownFor("Close deal 9 as lost");
  expect([both.has("crm-eu/close_deal"), both.has("crm-us/close_deal")]).toEqual([true, true]);
});
