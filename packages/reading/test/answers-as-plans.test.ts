/** What holds for each plan holds for a plan in the answer of a model. */
import { fitTexts, type JsonObject, observeOutput, stringifyExactJson } from "@planwright/plan";
import { readModelAnswer } from "@planwright/reading";
import { expect, test } from "vitest";

const ID = "7205759403792793601";

test.each([
  ["integer", `{"id": ${ID}}`, ID],
  ["string", `{"id": "${ID}"}`, `"${ID}"`],
  ["string", `{"id": ${ID}}`, `"${ID}"`],
])("a model may write an id for a parameter of type %s as %s", (type, args, sent) => {
  const inputSchema: JsonObject = { type: "object", properties: { id: { type } }, required: ["id"] };
  const read = readModelAnswer(`{"steps":[{"id":"s","tool":"get_note","arguments":${args}}]}`, {
    tools: [{ name: "get_note", inputSchema }],
    query: `Get note ${ID}`,
  });
  if (!read.ok) throw new TypeError(JSON.stringify(read));
  const [step] = read.plan.steps;
  const written = step && "arguments" in step ? step.arguments : {};
  expect(stringifyExactJson(fitTexts(inputSchema, written).value)).toBe(`{"id":${sent}}`);
});

test("a field that was never observed stays a warning, although an undeclared field is an error", () => {
  const ticket = { key: "T-1", title: "Tea", estimate: 3, owner: null };
  const find = { name: "findTickets", observedOutput: observeOutput(undefined, { tickets: [ticket] }) };
  const properties = { ticket: { type: "string" } };
  const close = { name: "closeTicket", inputSchema: { type: "object", properties } };
  const steps = [
    { id: "found", tool: "findTickets" },
    { id: "done", tool: "closeTicket", arguments: { ticket: "<<found.tickets[0].id>>" } },
  ];
  const answer = readModelAnswer(JSON.stringify({ steps }), { tools: [find, close] });
  expect(answer.ok).toBe(true);
  expect(answer.diagnostics.map(({ code, severity }) => [code, severity])).toEqual([
    ["REFERENCE_FIELD_UNKNOWN", "warning"],
  ]);
});

test.each([
  ["a member named __proto__", '{"a":{"__proto__":{"x":1}}}'],
  ["a member that names types of BSON", '{"a":[{"_bsontype":"Long"}]}'],
  ["a name with NUL", '{"a":{"n\\u0000":1}}'],
  ["a reference to a document", '{"a":{"$ref":"c","$id":1}}'],
  ["half of a character", '{"a":["x","\\ud83d!"]}'],
  ["half of a character in a name", '{"\\ude00":1}'],
])("%s is not fit for a plan", (_, json) => {
  const answer = `{"steps":[{"id":"s","tool":"t","arguments":${json}}]}`;
  expect(readModelAnswer(answer, { tools: [{ name: "t" }] }).ok).toBe(false);
});
