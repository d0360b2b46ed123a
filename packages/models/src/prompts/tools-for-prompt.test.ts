import type { Diagnostic, ToolDescriptor } from "@planwright/plan";
import { expect, test } from "vitest";
import { draftMessages } from "./draft-messages.ts";
import { estimateTokens, MAX_PROMPT_TOKENS } from "./prompt-budget.ts";
import { toolsForPrompt } from "./retrieve-tools.ts";

const TOOLS = Array.from(
  { length: 1_000 },
  (_, index): ToolDescriptor => ({
    name: `paint_wall_${index}`,
    description: `Paints wall number ${index} in a colour of one's choice, once or several times.`,
    inputSchema: { type: "object", properties: { colour: { type: "string" } } },
  }),
);
const diagnosticOf = (message: string, suggestion?: string): Diagnostic => ({
  code: "TOOL_UNKNOWN",
  severity: "error",
  message,
  suggestion,
});
type Input = Parameters<typeof toolsForPrompt>[0];
const cost = (input: Input) =>
  draftMessages({ ...input, tools: toolsForPrompt(input).tools }).reduce(
    (sum, { content }) => sum + estimateTokens(content),
    0,
  );

test.each<[string, Omit<Input, "tools">]>([
  ["a short request", { query: "paint wall 5" }],
  ["a request of 10,000 characters", { query: "paint the wall green. ".repeat(450) }],
  [
    "a repair with a long answer and many diagnostics",
    {
      query: "paint wall 5",
      repair: {
        previous: '{"steps":[]} '.repeat(700),
        diagnostics: Array(30).fill(diagnosticOf("no such tool".repeat(9))),
      },
    },
  ],
])("the prompt stays under its limit: %s", (_, input) => {
  expect(cost({ ...input, tools: TOOLS })).toBeLessThan(MAX_PROMPT_TOKENS);
  expect(toolsForPrompt({ ...input, tools: TOOLS }).tools.length).toBeGreaterThan(5);
});

test("a request that fills the prompt alone still gets some tools", () => {
  const { tools } = toolsForPrompt({ query: "paint the wall green. ".repeat(2_000), tools: TOOLS });
  expect(tools.length).toBeGreaterThan(5);
});

test("a repair shows the tools that its diagnostics and the last answer name before all others", () => {
  const { tools } = toolsForPrompt({
    query: "paint wall 5",
    tools: TOOLS,
    repair: {
      previous: '{"steps":[{"id":"a","tool":"paint_wall_900","arguments":{}}]}',
      diagnostics: [
        diagnosticOf("step a calls paintWal: no such tool; did you mean paint_wall_777.", "paint_wall_888"),
      ],
    },
  });
  expect(tools.slice(0, 4).map(({ name }) => name)).toEqual([
    "paint_wall_888",
    "paint_wall_777",
    "paint_wall_900",
    "paint_wall_5",
  ]);
});

test("a small catalogue is shown completely", () => {
  const tools = TOOLS.slice(0, 20);
  expect(toolsForPrompt({ query: "anything", tools }).tools).toEqual(tools);
});
