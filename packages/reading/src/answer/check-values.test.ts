import { parsePlan } from "@planwright/plan";
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

const event = {
  name: "createEvent",
  inputSchema: {
    type: "object",
    properties: {
      title: { type: "string" },
      when: { type: "string" },
      note: { type: "string" },
      mode: { type: "string", enum: ["unknown", "public"] },
      guests: { type: "array", items: { type: "object", properties: { email: { type: "string" } } } },
    },
    required: ["title"],
  },
};
const reading = { ...event, name: "findEvents", annotations: { readOnlyHint: true }, trusted: true };

test.each<[string, object, string[], string?]>([
  ["a placeholder", { when: "extracted_date" }, ["when"]],
  ["a placeholder in brackets", { note: "[note]" }, ["note"]],
  ["a field of a list", { guests: [{ email: "email_from_query" }] }, ["guests[0].email"]],
  ["an option, a value and a listed value", { when: "unknown", note: "[sic] as heard", mode: "unknown" }, []],
  [
    "what the request says",
    { note: "[note]", when: "extracted_date" },
    [],
    'The note is "[note]", its date extracted_date',
  ],
])(
  "in the answer of a model, %s is no value for an optional argument of a tool that acts",
  (_, args, found, query = "Create the event Tea") => {
    const answer = (tool: string) =>
      JSON.stringify([{ id: "e", tool, arguments: { title: "Tea", ...args } }]);
    const read = (tool: string) => readModelAnswer(answer(tool), { tools: [event, reading], query });
    const acting = read("createEvent");
    const errors = acting.diagnostics.filter(({ severity }) => severity === "error");
    expect(errors.map(({ code, path }) => [code, path])).toEqual(
      found.map((path) => ["ARGUMENT_PLACEHOLDER", `steps[0].arguments.${path}`]),
    );
    if (!acting.ok) expect(acting.open?.gaps).toHaveLength(found.length);
    expect(read("findEvents").ok).toBe(true);
    expect(parsePlan(answer("createEvent"), { tools: [event] }).ok).toBe(true);
  },
);

test.each<[string, object, string[]]>([
  ["a placeholder", { eq: ["<<f.email>>", "extracted_email"] }, ["when.eq[1]"]],
  ["a placeholder about the field", { ne: ["[city]", "<<f.home_city>>"] }, ["when.ne[0]"]],
  ["one in a list", { not: { in: ["<<f.email>>", ["a@b.org", "[email]"]] } }, ["when.not.in[1][1]"]],
  ["text about something else", { contains: ["<<f.subject>>", "[urgent]"] }, []],
  ["what the request says", { eq: ["<<f.tag>>", "[tag]"] }, []],
])("in the answer of a model, %s is no value for a condition", (_, when, found) => {
  const steps = [
    { id: "f", tool: "find", arguments: {} },
    { id: "s", tool: "send", arguments: { to: "<<f.email>>" }, when },
  ];
  const query = "Find a@b.org and send it mail if its tag is [tag]";
  const { diagnostics } = readModelAnswer(JSON.stringify({ steps }), {
    tools: [{ name: "find" }, send],
    query,
  });
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  expect(errors.map(({ code, path }) => [code, path])).toEqual(
    found.map((path) => ["ARGUMENT_PLACEHOLDER", `steps[1].${path}`]),
  );
});
