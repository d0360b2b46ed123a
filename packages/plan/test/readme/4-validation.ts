import assert from "node:assert/strict";
import { parsePlan, validateArguments } from "@planwright/plan";

const createAuthor = {
  name: "createAuthor",
  inputSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
  outputSchema: { type: "object", properties: { _id: { type: "string" } }, additionalProperties: false },
};
const createBlog = {
  name: "createBlog",
  inputSchema: { type: "object", properties: { authorId: { type: "string" } }, required: ["authorId"] },
};
const parsed = parsePlan(
  [
    { tool: "createAuthor", arguments: { name: "YOUR_NAME" } },
    { tool: "createBlog", arguments: { authorId: "<<createAuthr._id>>" } },
  ],
  { tools: [createAuthor, createBlog] },
);
assert(!parsed.ok);
assert.deepEqual(
  parsed.diagnostics.map(({ code, path }) => [code, path]),
  [
    ["ARGUMENT_PLACEHOLDER", "steps[0].arguments.name"],
    ["REFERENCE_UNKNOWN", "steps[1].arguments.authorId"],
  ],
);
assert.equal(
  parsed.diagnostics[1]?.message,
  "step createBlog refers to createAuthr: no such step; did you mean createAuthor?",
);

const [missing] = validateArguments(createAuthor, {});
assert.equal(missing?.message, "createAuthor: argument name is required");

const steps = [
  { id: "author", tool: "createAuthor", arguments: { name: "Alice" } },
  { tool: "createBlog", arguments: { authorId: "Alice" } },
];
const named = parsePlan({ steps }, { tools: [createAuthor, createBlog] });
assert.deepEqual(
  named.diagnostics.map(({ code, suggestion }) => [code, suggestion]),
  [["ARGUMENT_PLACEHOLDER", "<<author._id>>"]],
);
assert(parsePlan({ steps, literals: ["Alice"] }, { tools: [createAuthor, createBlog] }).ok);
