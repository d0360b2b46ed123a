import { planJsonSchema } from "@planwright/plan";
import { expect, test } from "vitest";
import { completionsAt } from "./places.ts";

const TOOLS = [
  {
    name: "createAuthor",
    description: "Creates an author",
    inputSchema: {
      type: "object",
      properties: {
        name: { type: "string" },
        email: { type: "string", description: "Where to write to" },
        role: { enum: ["editor", "guest"] },
      },
      required: ["email"],
    },
    outputSchema: { type: "object", properties: { _id: { type: "string" } } },
  },
  { name: "createBlog", description: "", inputSchema: { type: "object" }, outputSchema: null },
];

const DOCUMENT = {
  steps: [
    { id: "author", tool: "createAuthor", arguments: { name: "Alice" } },
    { id: "blog", tool: "createBlog", arguments: {} },
    { id: "all", forEach: { items: [1], do: { tool: "createAuthor", arguments: {} } } },
  ],
};

/** The choices at `|` in `marked`, which replaces `part` of the document's text. */
function choicesAt(part: string, marked: string): string[] {
  const text = JSON.stringify(DOCUMENT).replace(part, marked);
  const found = completionsAt(text.replace("|", ""), text.indexOf("|"), {
    planSchema: planJsonSchema(),
    tools: TOOLS,
    document: DOCUMENT,
  });
  return found?.choices.map(({ label }) => label) ?? [];
}

test("completions for keys of a step are those of the plan's schema that it does not have", () => {
  const keys = choicesAt('"id":"blog",', '"id":"blog",|,');
  expect(keys).toContain("dependsOn");
  expect(keys).toContain("forEach");
  expect(keys).not.toContain("id");
});

test("an option of the policy is completed with its values", () => {
  const text = '{"policy": {"onCycle": ';
  const found = completionsAt(text, text.length, { planSchema: planJsonSchema(), tools: [], document: null });
  expect(found?.choices.map(({ apply }) => apply)).toEqual(['"error"', '"break-fewest"', '"run-together"']);
});

test("arguments are completed from the tool's schema, also in a list", () => {
  expect(choicesAt('"name":"Alice"', '"name":"Alice",|')).toEqual(["email", "role"]);
  expect(choicesAt('"createAuthor","arguments":{}', '"createAuthor","arguments":{|}')).toEqual([
    "name",
    "email",
    "role",
  ]);
});

test("a required argument is marked as required", () => {
  const text = JSON.stringify(DOCUMENT).replace('"name":"Alice"', '"name":"Alice",');
  const found = completionsAt(text, text.indexOf('"Alice",') + 8, {
    planSchema: planJsonSchema(),
    tools: TOOLS,
    document: DOCUMENT,
  });
  expect(found?.choices[0]).toEqual({
    label: "email",
    apply: '"email": ""',
    detail: "string · required",
    info: "Where to write to",
    isRequired: true,
  });
});

test("a value of an argument is completed from its schema and from outputs of other steps", () => {
  expect(choicesAt('"Alice"', '"Alice","role":|')).toEqual(["editor", "guest", "<<blog>>", "<<all>>"]);
  expect(choicesAt('"createBlog","arguments":{}', '"createBlog","arguments":{"by":"<<|"}')).toEqual([
    "<<author>>",
    "<<author._id>>",
    "<<all>>",
  ]);
});

test("a tool is completed from the catalogue, a dependency from the other steps", () => {
  expect(choicesAt('"tool":"createBlog"', '"tool":"|"')).toEqual(["createAuthor", "createBlog"]);
  expect(choicesAt('"id":"blog",', '"id":"blog","dependsOn":["|"],')).toEqual(["author", "all"]);
});
