import { type ContractProposal, contractReport, type JsonValue, suggestForServer } from "@planwright/plan";
import { expect, test } from "vitest";
import type { ExplainedTool } from "../operations.ts";
import { suggestionJson, suggestionLines } from "./tool-text.ts";

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

const NOTE = "No model was asked: no planner with a model lives.";
const READS =
  'its name (list tickets) and its description ("list …") say that it reads; no word and no parameter says that it acts';
const suggestionsFor = (own: readonly ExplainedTool[], ...proposals: ContractProposal[]) => ({
  server: "tracker",
  state: "NONE" as const,
  note: NOTE,
  tools: suggestForServer(own, "tracker", proposals),
});
const proposal = (tool: string, field: ContractProposal["field"], value: JsonValue): ContractProposal => ({
  tool,
  field,
  value,
  reason: "it says\u001b[2J so",
});
const linesOf = (own: readonly ExplainedTool[], ...proposals: ContractProposal[]) =>
  suggestionLines(suggestionsFor(own, ...proposals), own.length, (_, text) => text);

test("suggestions show each reason, whether a model was asked, and the block for the servers file", () => {
  expect(linesOf(tools)).toEqual([
    "Suggested for 1 of the 3 tools of server tracker",
    "  list_tickets",
    `    side_effects false: ${READS}`,
    "",
    NOTE,
    "",
    "To accept, put what is right into the entry of tracker in the servers file; nothing else is believed",
    '  "tools": {',
    '    "list_tickets": {',
    '      "side_effects": false',
    "    }",
    "  }",
  ]);
});

test("what a model proposes is marked, in visible characters, and what speaks against it is in no block", () => {
  const lines = linesOf(
    tools,
    proposal("close_ticket", "idempotency", "natural"),
    proposal("close_ticket", "side_effects", false),
  );
  expect(lines).toContain('    idempotency "natural", a model proposes: it says so');
  expect(lines).toContain(
    '    side_effects false, a model proposes: it says so; not in the block, because its name has "close"',
  );
  expect(lines.slice(-7)).toEqual([
    '    "list_tickets": {',
    '      "side_effects": false',
    "    },",
    '    "close_ticket": {',
    '      "idempotency": "natural"',
    "    }",
    "  }",
  ]);
  const against = linesOf(tools.slice(1, 2), proposal("close_ticket", "side_effects", false));
  expect(against.at(-1)).toBe(
    "Something speaks against every field, so there is no block for the servers file.",
  );
});

test("for programs the block, the reasons and all suggestions are apart", () => {
  const suggested = suggestionsFor(tools, proposal("close_ticket", "side_effects", false));
  expect(suggestionJson(suggested)).toEqual({
    server: "tracker",
    state: "NONE",
    note: NOTE,
    tools: { list_tickets: { side_effects: false } },
    reasons: { list_tickets: { side_effects: READS }, close_ticket: {} },
    suggestions: suggested.tools,
  });
});

test("without a suggestion the command says so, and whether a model was asked", () => {
  expect(linesOf(tools.slice(1))).toEqual([
    expect.stringMatching(/^No contract is suggested for the 2 tools of server tracker/),
    NOTE,
  ]);
});
