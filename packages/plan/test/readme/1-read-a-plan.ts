import assert from "node:assert/strict";
import { parsePlan, resolveReferences } from "@planwright/plan";

const parsed = parsePlan({
  tools: [
    { name: "createAuthor", parameters: { name: "Alice", email: "alice@test.com" } },
    { name: "createBlog", parameters: { title: "Hello", authorId: "{{createAuthor._id}}" } },
  ],
});
assert(parsed.ok);
assert.deepEqual(parsed.plan.steps[1], {
  id: "createBlog",
  tool: "createBlog",
  arguments: { title: "Hello", authorId: "<<createAuthor._id>>" },
  dependsOn: [],
});

const outputs = new Map([["createAuthor", { _id: "a1", name: "Alice" }]]);
const { value } = resolveReferences({ authorId: "<<createAuthor._id>>" }, { outputs });
assert.deepEqual(value, { authorId: "a1" });
