import { describe, expect, test } from "vitest";
import { pinTools } from "../src/contract/pin-tools.ts";
import { parsePlan } from "../src/dialect/read-plan.ts";
import type { JsonObject, JsonValue } from "../src/json/json.ts";
import { type OutputShape, observeOutput } from "../src/tools/observe-output.ts";
import type { ToolDescriptor } from "../src/tools/tool-descriptor.ts";

const seen = (...outputs: JsonValue[]) =>
  outputs.reduce<OutputShape | undefined>(observeOutput, undefined) ?? { types: {} };
const ticket = { key: "T-1", title: "Tea", estimate: 3, owner: null };
const find: ToolDescriptor = {
  name: "findTickets",
  observedOutput: seen({ tickets: [ticket] }, { tickets: [ticket, ticket] }, { tickets: [] }),
};
const close: ToolDescriptor = {
  name: "closeTicket",
  inputSchema: {
    type: "object",
    properties: { ticket: { type: "string" }, points: { type: "integer" }, why: { type: "string" } },
  },
};
const found = { id: "found", tool: "findTickets" };
const closing = (args: JsonObject) => ({
  steps: [found, { id: "done", tool: "closeTicket", arguments: args }],
});
const diagnosticsOf = (plan: JsonObject, source = find) => parsePlan(plan, { tools: [source, close] });
const codesOf = (plan: JsonObject, source = find) =>
  diagnosticsOf(plan, source).diagnostics.map(({ code, severity, path }) => [code, severity, path]);

test("a field that was observed gives no diagnostic", () => {
  expect(codesOf(closing({ ticket: "<<found.tickets[0].key>>" }))).toEqual([]);
});

test("a field that was never observed is a warning with the nearest observed field", () => {
  const read = diagnosticsOf(closing({ ticket: "<<found.tickets[0].kye>>" }));
  expect(read.ok).toBe(true);
  expect(read.diagnostics).toEqual([
    {
      code: "REFERENCE_FIELD_UNKNOWN",
      severity: "warning",
      observedIn: 3,
      stepId: "done",
      path: "steps[1].arguments.ticket",
      message:
        "step done refers to <<found.tickets[0].kye>>: kye was never seen in 3 outputs of found (key, title, estimate, owner); did you mean key?",
      suggestion: "key",
    },
  ]);
});

test("a field in the plan's outputs that was never observed is a warning, and an undeclared one an error", () => {
  const outputs = { n: "<<found.ticketsList>>" };
  expect(diagnosticsOf({ steps: [found], outputs }).diagnostics).toEqual([
    {
      code: "REFERENCE_FIELD_UNKNOWN",
      severity: "warning",
      observedIn: 3,
      path: "outputs.n",
      message:
        "output n refers to <<found.ticketsList>>: ticketsList was never seen in 3 outputs of found (tickets); did you mean tickets?",
      suggestion: "tickets",
    },
  ]);
  const closed = { type: "object", properties: { list: {} }, additionalProperties: false };
  expect(codesOf({ steps: [found], outputs }, { ...find, outputSchema: closed })).toEqual([
    ["REFERENCE_FIELD_UNKNOWN", "error", "outputs.n"],
  ]);
});

test.each([
  ["id", ["ticket_id", "title"], "ticket_id"],
  ["id", ["ticket_id", "owner_id"], undefined],
  ["ticketId", ["ticket_id", "ticket"], "ticket_id"],
  ["ticketId", ["ticket_id", "title"], "ticket_id"],
  ["emailAddress", ["id", "email"], "email"],
  ["ticket_titel", ["title", "ticket_title"], "ticket_title"],
])("of %s and the fields %j the one that was meant is %s", (name, fields, meant) => {
  const tool = { ...find, observedOutput: seen(Object.fromEntries(fields.map((field) => [field, 1]))) };
  const { diagnostics } = diagnosticsOf(closing({ why: `<<found.${name}>>` }), tool);
  expect(diagnostics.map(({ suggestion }) => suggestion)).toEqual([meant]);
});

test("a type that was never observed is a warning, except when all values were null", () => {
  expect(codesOf(closing({ points: "<<found.tickets[0].title>>" }))).toEqual([
    ["REFERENCE_TYPE", "warning", "steps[1].arguments.points"],
  ]);
  expect(codesOf(closing({ why: "<<found.tickets[0].owner>>" }))).toEqual([]);
});

test("a comparison with a type that was never observed is a warning", () => {
  const when = { gt: ["<<found.tickets[0].title>>", 3] };
  const plan = { steps: [found, { id: "done", tool: "closeTicket", when }] };
  expect(codesOf(plan)).toEqual([["CONDITION_INVALID", "warning", "steps[1].when.gt"]]);
});

test("a declared schema wins over observed outputs, which define what the schema leaves open", () => {
  const declared = (outputSchema: JsonObject): ToolDescriptor => ({ ...find, outputSchema });
  const closed = declared({ type: "object", properties: { list: {} }, additionalProperties: false });
  expect(codesOf(closing({ ticket: "<<found.tickets>>" }), closed)).toEqual([
    ["REFERENCE_FIELD_UNKNOWN", "error", "steps[1].arguments.ticket"],
  ]);
  const open = declared({
    type: "object",
    properties: { tickets: { type: "array", items: { type: "object", additionalProperties: true } } },
  });
  expect(codesOf(closing({ ticket: "<<found.tickets[0].key>>" }), open)).toEqual([]);
  expect(codesOf(closing({ ticket: "<<found.tickets[0].id>>" }), open)).toEqual([
    ["REFERENCE_FIELD_UNKNOWN", "warning", "steps[1].arguments.ticket"],
  ]);
});

test("any key of a map may exist", () => {
  const byDay: ToolDescriptor = { name: "findTickets", observedOutput: seen({ "2026-05-12": { open: 3 } }) };
  expect(codesOf(closing({ points: '<<found["2026-05-13"].open>>' }), byDay)).toEqual([]);
  expect(codesOf(closing({ points: '<<found["2026-05-13"].opne>>' }), byDay)).toEqual([
    ["REFERENCE_FIELD_UNKNOWN", "warning", "steps[1].arguments.points"],
  ]);
});

test("a cut shape, and a text that may be JSON, give no diagnostic", () => {
  const cut: ToolDescriptor = {
    name: "findTickets",
    observedOutput: { types: { object: 5 }, fields: { a: { types: { string: 5 } } }, isCut: true },
  };
  expect(codesOf(closing({ ticket: "<<found.b>>" }), cut)).toEqual([]);
  expect(codesOf(closing({ ticket: "<<found.a.b>>" }), cut)).toEqual([]);
});

describe("in a forEach", () => {
  const each = (items: string, args: JsonObject) => ({
    steps: [
      found,
      { id: "done", forEach: { items, as: "one", do: { tool: "closeTicket", arguments: args } } },
    ],
  });

  test("the fields of an item are those that were observed in the list", () => {
    expect(codesOf(each("<<found.tickets>>", { ticket: "<<one.key>>" }))).toEqual([]);
    expect(codesOf(each("<<found.tickets>>", { ticket: "<<one.id>>" }))).toEqual([
      ["REFERENCE_FIELD_UNKNOWN", "warning", "steps[1].forEach.do.arguments.ticket"],
    ]);
  });

  test("when the list was never observed, the diagnostic is about the list and not about each field of its items", () => {
    expect(codesOf(each("<<found.ticket_list>>", { ticket: "<<one.id>>", why: "<<one.title>>" }))).toEqual([
      ["REFERENCE_FIELD_UNKNOWN", "warning", "steps[1].forEach.items"],
    ]);
  });

  test("a value that was never a list is a warning", () => {
    const one: ToolDescriptor = { name: "findTickets", observedOutput: seen({ ticket: { key: "T" } }) };
    expect(codesOf(each("<<found.ticket>>", { ticket: "<<one.key>>" }), one)).toEqual([
      ["FOREACH_ITEMS_NOT_LIST", "warning", "steps[1].forEach.items"],
    ]);
  });

  test("the results have the observed outputs of the tool", () => {
    const closed: ToolDescriptor = { ...close, observedOutput: seen({ closedAt: "x" }) };
    const plan = {
      steps: [
        { id: "all", forEach: { items: ["a", "b"], as: "one", do: { tool: "closeTicket", arguments: {} } } },
        { id: "note", tool: "findTickets", arguments: { at: "<<all.results[0].data.closed>>" } },
      ],
    };
    const { diagnostics } = parsePlan(plan, { tools: [find, closed] });
    expect(diagnostics.map(({ code, suggestion }) => [code, suggestion])).toEqual([
      ["REFERENCE_FIELD_UNKNOWN", "closedAt"],
    ]);
  });
});

test("a field that the contract promises is accepted, observed or not", () => {
  const promising: ToolDescriptor = { ...find, _meta: { "x-orchestration": { provides: ["cursor"] } } };
  expect(codesOf(closing({ ticket: "<<found.cursor>>" }), promising)).toEqual([]);
  expect(codesOf(closing({ why: "<<found.tickets[0].key>>" }), promising)).toEqual([]);
});

test("observed outputs do not change the pin of a tool", () => {
  const plan = parsePlan({ steps: [found] });
  if (!plan.ok) throw new TypeError("the plan is valid");
  const { observedOutput: _, ...unseen } = find;
  expect(pinTools(plan.plan, [find])).toEqual(pinTools(plan.plan, [unseen]));
});
