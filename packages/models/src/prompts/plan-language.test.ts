import { expect, test } from "vitest";
import { draftMessages } from "./draft-messages.ts";
import { planLanguage } from "./system-prompt.ts";

const offered = (query: string) =>
  Object.entries(planLanguage({ query })).flatMap(([part, isOffered]) => (isOffered ? [part] : []));

test.each([
  "Create author Alice with email alice@test.com, then create blog by Alice titled Hello about world",
  "What is the weather in Oslo?",
  "Close issues WEB-1 and WEB-2",
  "Request a loan of 15000 for 36 months",
  "Merge contacts 11 and 12",
  "Create a user of status active, who does the business of sales's address", // none of these words is a plural
])("%s: only calls", (query) => {
  expect(offered(query)).toEqual([]);
});

test.each([
  ["for each open ticket add a comment", ["loops"]],
  ["Close all tickets of Bob", ["loops"]],
  ["Mail the customers with overdue invoices", ["loops"]],
  ["Find the open tickets and close them", ["loops"]],
  ["Delete drafts older than 30 days", ["loops"]],
  ["If the balance is below 10, top up the card", ["conditions"]],
  ["Book the flight unless it costs more than 300", ["conditions"]],
  ["Only tell me the balance of account 1001", ["conditions", "outputs"]],
  ["Get the balance and the limit of card c-7, just return the limit", ["outputs"]],
  ["Check stock of p-1; otherwise order it", ["conditions"]],
  ["Schließe alle Tickets, falls der Saldo negativ ist", ["loops", "conditions"]],
  ["Ferme chaque ticket sauf le premier", ["loops", "conditions"]],
  ["Cierra todos los tickets y dime solo el total", ["loops", "outputs"]],
  ["关闭所有未结工单", ["loops", "conditions", "outputs"]],
  ["закрой каждый тикет", ["loops", "conditions", "outputs"]],
])("%s: %j", (query, parts) => {
  expect(offered(query)).toEqual(parts);
});

test("a repair offers the parts that the last answer used, and those that its diagnostics mention", () => {
  const repair = (previous: string, message = "m") =>
    planLanguage({
      query: "q",
      repair: { previous, diagnostics: [{ code: "FIELD_INVALID", severity: "error", message }] },
    });
  expect(repair("{}")).toEqual({ loops: false, conditions: false, outputs: false });
  expect(repair('{"forEach":"x"}').loops).toBe(true);
  expect(repair("{}", 'give this step a "forEach"').loops).toBe(true);
  expect(repair('{"steps":[{"when":"x"}],"outputs":["a"]}')).toEqual({
    loops: false,
    conditions: true,
    outputs: true,
  });
});

test("a replan offers loops when the earlier plan had one, and the parts that its note may need", () => {
  const step = { id: "s", tool: "t", call: {}, status: "failed" as const };
  const replan = (isList: boolean, note: string | null = null) =>
    planLanguage({ query: "q", replan: { steps: [{ ...step, isList }], note } });
  expect(replan(false).loops).toBe(false);
  expect(replan(true).loops).toBe(true);
  expect(replan(false, "skip it if it is closed").conditions).toBe(true);
});

test("rules are numbered without a gap, those of a replan after those of the plan", () => {
  const query = "close all tickets if the balance is low, and only tell me the balance";
  const [system] = draftMessages({ query, tools: [], replan: { steps: [], note: null } });
  const numbers = [...(system?.content ?? "").matchAll(/^(\d+)\. /gm)].map(([, number]) => Number(number));
  expect(numbers).toEqual(Array.from({ length: 14 }, (_, index) => index + 1));
});

test("conditions of items are explained where lists and conditions are offered", () => {
  const rulesFor = (query: string) => draftMessages({ query, tools: [] })[0]?.content ?? "";
  const rule = 'Beside a forEach, a "when" about "<<item.field>>"';
  expect(rulesFor("order all books, but only those in stock")).toContain(rule);
  expect(rulesFor("order it if it is in stock")).not.toContain(rule);
  expect(rulesFor("order all books")).not.toContain(rule);
});

test("a request of many words is read in one pass", () => {
  const query = "s".repeat(100_000) + " ".repeat(100_000) + "a1 ".repeat(100_000);
  expect(offered(query)).toEqual([]);
});
