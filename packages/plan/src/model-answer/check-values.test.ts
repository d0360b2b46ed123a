import { expect, test } from "vitest";
import { readModelAnswer } from "./read-model-answer.ts";

const send = {
  name: "send",
  inputSchema: {
    type: "object",
    properties: {
      to: {},
      status: { enum: ["todo", "done"], examples: ["PLACEHOLDER_ID"] },
      from: { type: "string", default: "noreply@example.com" },
    },
  },
};

function codesOf(to: unknown, query?: string): string[] {
  const text = JSON.stringify([
    { id: "a", tool: "find", arguments: {} },
    { id: "b", tool: "send", arguments: { to } },
  ]);
  const read = readModelAnswer(text, { tools: [{ name: "find" }, send], query });
  return read.diagnostics.map(({ code, severity }) => `${severity} ${code}`);
}

test.each([
  "<author_id>",
  "PLACEHOLDER_ID",
  "extracted",
  "YOUR_API_KEY",
  "AUTHOR_ID",
  "[redacted]",
  "Bearer [redacted]",
  "[Your Name]",
  "...",
  "John Doe",
  "507f1f77bcf86cd799439011",
  "123e4567-e89b-12d3-a456-426614174000",
  "user@example.com",
  "Jane <jane@example.org>",
  "bob@corp.io, john.doe@gmail.com",
  "https://www.example.com/callback",
  "Dear Bob,\nsee you.\n[Your Name]",
])("%j is a placeholder unless the query contains it", (value) => {
  expect(codesOf(value, "Mail bob@corp.io about it")).toEqual(["error ARGUMENT_PLACEHOLDER"]);
  expect(codesOf({ deep: [value] }, "Mail bob@corp.io about it")).toEqual(["error ARGUMENT_PLACEHOLDER"]);
  expect(codesOf(value)).toEqual(["error ARGUMENT_PLACEHOLDER"]);
  expect(codesOf(value, `Mail bob@corp.io the text ${value}.`)).toEqual([]);
});

test.each([
  ["a word of the tool's schema", "todo", "Do it"],
  ["an address that the tool has by default", "noreply@example.com", "Do it"],
  ["an address in another case", "bob@corp.io", "Mail BOB@Corp.IO"],
  ["an address in spoken words", "alice@test.com", "Mail alice at test dot com"],
  ["addresses of one host", "bob@test.com", "Mail Alice and Bob at test.com"],
  ["a page of a requested host", "https://www.example.com/a", "Read example.com"],
  ["a file", "find.pdf", "Save find.pdf"],
  ["a reference", "<<a.email>>", "Mail it"],
])("%s is not invented", (_, value, query) => {
  expect(codesOf(value, query)).toEqual([]);
});

test.each([
  ["a step's field without reference brackets", "a._id", "error REFERENCE_SPELLING"],
  ["a tool's field without reference brackets", "find.results[0]", "error REFERENCE_SPELLING"],
  ["a field in the brackets of another language", "${a._id}", "warning REFERENCE_SPELLING"],
  ["an address without a source", "bob@corp.io", "error ARGUMENT_UNSOURCED"],
  ["part of an address that is given", "b@corp.io", "error ARGUMENT_UNSOURCED"],
])("%s is reported", (_, value, code) => {
  expect(codesOf(value, "Mail robb@corp.io")).toEqual([code]);
});

test("items of a loop and operands of a condition are checked too", () => {
  const text = JSON.stringify([
    {
      id: "l",
      forEach: { items: ["user@example.com"], do: { tool: "send", arguments: { to: "<<item>>" } } },
    },
    { id: "c", tool: "find", arguments: {}, when: { eq: ["YOUR_TOKEN", 1] } },
  ]);
  const read = readModelAnswer(text, { tools: [{ name: "find" }, send], query: "Mail them" });
  expect(read.diagnostics.map(({ path }) => path)).toEqual([
    "steps[0].forEach.items[0]",
    "steps[1].when.eq[0]",
  ]);
});
