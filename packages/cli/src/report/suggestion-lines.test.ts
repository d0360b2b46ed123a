import { contractReport } from "@planwright/plan";
import { expect, test } from "vitest";
import type { ExplainedTool } from "../api/tools.ts";
import { suggestionJson, suggestionLines } from "./suggestion-lines.ts";

const calls = {
  since: "2026-11-23T10:00:00.000Z",
  count: 0,
  failures: 0,
  p50Ms: null,
  p99Ms: null,
  lastAt: null,
  errors: [],
};
const toolOf = (name: string, description: string, override?: object): ExplainedTool => ({
  name,
  server: "tracker",
  title: null,
  description,
  category: "tracker",
  inputSchema: { type: "object" },
  outputSchema: null,
  observedOutput: null,
  annotations: null,
  contract: {},
  contractReport: contractReport({
    name,
    server: "tracker",
    ...(override ? { override: { ...override } } : {}),
  }),
  listedAt: null,
  disconnectedSince: null,
  calls,
});
const tools = [
  toolOf("tracker/list_tickets", "List tickets"),
  toolOf("close_ticket", "Close a ticket"),
  toolOf("get_ticket", "Get a ticket", { side_effects: true }),
];

test("suggestions show each reason and the block for the servers file", () => {
  expect(suggestionLines("tracker", tools, (_, text) => text)).toEqual([
    "Suggested for 1 of the 3 tools of server tracker",
    "  list_tickets",
    '    side_effects false: its name (list tickets) and its description ("list …") say that it reads; no word and no parameter says that it acts',
    "",
    "To accept, put what is right into the entry of tracker in the servers file; nothing else is believed",
    '  "tools": {',
    '    "list_tickets": {',
    '      "side_effects": false',
    "    }",
    "  }",
  ]);
});

test("for programs the block and the reasons are apart", () => {
  expect(suggestionJson("tracker", tools)).toEqual({
    server: "tracker",
    tools: { list_tickets: { side_effects: false } },
    reasons: { list_tickets: { side_effects: expect.stringContaining("say that it reads") } },
  });
});

test("without a suggestion the command says so", () => {
  expect(suggestionLines("tracker", tools.slice(1), (_, text) => text)).toEqual([
    expect.stringMatching(/^No contract is suggested for the 2 tools of server tracker/),
  ]);
});
