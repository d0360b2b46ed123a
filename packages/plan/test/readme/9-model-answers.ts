import assert from "node:assert/strict";
import { readModelAnswer } from "@planwright/plan";

const fields = { type: "object", properties: { name: {}, email: {} }, required: ["name", "email"] };
const tools = [{ name: "createAuthor", inputSchema: fields }, { name: "listAuthors" }];
const query = "Create author Alice with email alice@test.com";

const answer = `<think>They want one author.</think>Sure! Here's the plan:
\`\`\`json
{'steps': [
  // one call
  {'id': 'alice', 'tool': 'createAuthor', 'arguments': "{'name': 'Alice', 'email': 'alice@test.com'}",},
]}
\`\`\``;
const read = readModelAnswer(answer, { tools, query, finishReason: "stop" });
assert(read.ok && read.repaired);
assert.deepEqual(read.plan.steps, [
  {
    id: "alice",
    tool: "createAuthor",
    arguments: { name: "Alice", email: "alice@test.com" },
    dependsOn: [],
  },
]);

const codes = (text: string, finishReason?: string) =>
  readModelAnswer(text, { tools, query, finishReason }).diagnostics.map(({ code }) => code);
const call = (tool: string, email: string) => JSON.stringify([{ tool, arguments: { name: "Alice", email } }]);

assert.deepEqual(codes(call("createAuthor", "user@example.com")), ["ARGUMENT_PLACEHOLDER"]);
assert.deepEqual(codes(call("create_author", "alice@test.com")), ["TOOL_UNKNOWN"]);
assert.deepEqual(codes(`${call("createAuthor", "alice@test.com")} or [{"tool": "listAuthors"}]`), [
  "ANSWER_AMBIGUOUS",
]);
assert.deepEqual(codes('{"steps": [{"tool": "listAuthors"}'), ["ANSWER_TRUNCATED"]);
assert.deepEqual(codes(call("listAuthors", ""), "length"), ["ANSWER_TRUNCATED"]);
assert.deepEqual(codes("I'm sorry, I can't do that."), ["ANSWER_REFUSED"]);
assert.deepEqual(codes('{"steps": [], "missing": "the e-mail address"}'), ["ANSWER_ASKS"]);
