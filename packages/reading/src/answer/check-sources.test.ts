import type { JsonObject, JsonValue, ToolDescriptor } from "@planwright/plan";
import { expect, test } from "vitest";
import { readModelAnswer } from "./read-model-answer.ts";

const FIELDS = ["id", "phone", "name", "last_name", "amount", "day", "subject", "text", "language"];
const properties: JsonObject = Object.fromEntries(FIELDS.map((field) => [field, {}]));
properties["language"] = { enum: ["de", "en"] };
const tool = (name: string, readOnly: boolean, required: string[] = FIELDS): ToolDescriptor => ({
  name,
  inputSchema: { type: "object", properties, required },
  annotations: { readOnlyHint: readOnly },
  trusted: true,
});
const NEEDS = { ...tool("change", false, []), name: "change" };

/** Diagnostics (severity, code, path) for the arguments of a call. */
function found(query: string | undefined, args: JsonObject, of: ToolDescriptor = NEEDS): string[] {
  const text = JSON.stringify([{ tool: of.name, arguments: args }]);
  return readModelAnswer(text, { tools: [of], query }).diagnostics.map(
    ({ code, severity, path }) => `${severity} ${code} ${path ?? ""}`,
  );
}
const made = (field: string) => [`error ARGUMENT_UNSOURCED steps[0].arguments.${field}`];
const assumed = (field: string) => [`warning ARGUMENT_UNSOURCED steps[0].arguments.${field}`];

test.each<[query: string, field: string, value: JsonValue]>([
  ["Charge client 77", "id", 77],
  ["Charge client 77", "id", "77"],
  ["Charge invoice INV-77", "id", "INV-77"],
  ["Open the blog of Alice", "id", "alice-blog"],
  ["Call +49 (30) 1234567", "phone", "+49 (30) 1234567"],
  ["Add Ann Lee", "last_name", "Lee"],
  ["Make a playlist of running songs", "name", "Running"],
  ["Pay 1,250.50 to Bob", "amount", 1250.5],
  ["Pay three euros", "amount", 3],
  ["Give 20% off", "amount", 0.2],
  ["Give 20% off", "amount", 20],
  ["Order a pizza", "amount", 1],
  ["Book half a day", "amount", 0.5],
  ["Meet her tomorrow", "day", "2026-11-24"],
  ["Ask Анна to come", "name", "Anna"],
  ["预订三张票", "amount", 3],
  ["Write about cats", "text", "Cats sleep for most of the day and hunt at night."],
  ["Translate it into German", "language", "de"],
  ["Do it", "text", ""],
  ["Do it", "id", "<<other.id>>"],
])("%s: %s %j has a source", (query, field, value) => {
  const others = found(query, { [field]: value }).filter((each) => each.includes("UNSOURCED"));
  expect(others).toEqual([]);
});

test.each<[query: string, field: string, value: JsonValue]>([
  ["Write a post for Ana", "id", 1],
  ["Write a post of 5 lines for Ana", "id", 1],
  ["Write a post for Ana", "id", "a81f2c"],
  ["Add contact Ben", "phone", "555-0100"],
  ["Add Ann", "last_name", "Lee"],
  ["Call the plumber", "text", "+49 30 1234567"],
])("%s: %s %j is invented, whether it is required or not", (query, field, value) => {
  expect(found(query, { [field]: value })).toEqual(made(field));
});

test.each<[query: string, field: string, value: JsonValue]>([
  ["Pay Bob", "amount", 250],
  ["Meet her", "day", "2026-11-24"],
])("%s: %s %j is invented when it is required, and an assumption when it is not", (query, field, value) => {
  expect(found(query, { [field]: value }, tool("change", false, [field]))).toEqual(made(field));
  expect(found(query, { [field]: value })).toEqual(assumed(field));
});

test("wording and common knowledge are assumptions", () => {
  expect(found("Greet Bob", { subject: "Hello" })).toEqual(assumed("subject"));
});

test("in a call without side effects everything is an assumption", () => {
  expect(found("Find the post", { id: 1 }, tool("find", true, ["id"]))).toEqual(assumed("id"));
});

test("without the request nothing is reported", () => {
  expect(found(undefined, { id: 1 })).toEqual([]);
});

test("items and arguments of a loop are checked", () => {
  const items = [{ id: 41 }, { id: 42 }];
  const text = JSON.stringify([
    { id: "all", forEach: { items, do: { tool: "change", arguments: { id: "<<item.id>>", amount: 7 } } } },
  ]);
  const { diagnostics } = readModelAnswer(text, {
    tools: [tool("change", false, ["id", "amount"])],
    query: "Charge client 41",
  });
  expect(diagnostics.map(({ severity, path }) => [severity, path])).toEqual([
    ["error", "steps[0].forEach.items[1].id"],
  ]);
});

test("a long text takes no more time than its beginning", () => {
  const text = "word ".repeat(100_000);
  expect(found("Write about dogs", { text })).toEqual(assumed("text"));
});

test("questions of a model in addition to its plan are reported", () => {
  const answer = { steps: [{ tool: "change", arguments: { id: 77 } }], missing: ["How much?"] };
  const read = readModelAnswer(JSON.stringify(answer), { tools: [NEEDS], query: "Charge client 77" });
  expect(read).toEqual({
    ok: false,
    diagnostics: [{ code: "ANSWER_ASKS", severity: "error", message: "How much?" }],
  });
  for (const missing of [[], "", "None", ["Nothing is missing."], null]) {
    const quiet = JSON.stringify({ ...answer, missing });
    expect(readModelAnswer(quiet, { tools: [NEEDS], query: "Charge client 77" }).ok).toBe(true);
  }
});
