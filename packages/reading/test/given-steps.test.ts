import { CallStepSchema, PlanSchema, type ToolDescriptor } from "@planwright/plan";
import { readModelAnswer } from "@planwright/reading";
import { expect, test } from "vitest";

const TOOLS: ToolDescriptor[] = [
  {
    name: "createAuthor",
    inputSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
    outputSchema: { type: "object", properties: { _id: { type: "string" } }, required: ["_id"] },
  },
  {
    name: "createBlog",
    inputSchema: {
      type: "object",
      properties: { title: { type: "string" }, authorId: { type: "string" } },
      required: ["title", "authorId"],
    },
  },
];
const AUTHOR = CallStepSchema.parse({ id: "author", tool: "createAuthor", arguments: { name: "Alice" } });
const BLOG = { id: "blog", tool: "createBlog", arguments: { title: "Hi", authorId: "<<author._id>>" } };

const read = (steps: unknown, given = [AUTHOR]) =>
  readModelAnswer(JSON.stringify({ steps }), { tools: TOOLS, given, query: "Alice, or Bob, writes Hi" });
const idsOf = (steps: unknown) => {
  const answer = read(steps);
  return answer.ok ? answer.plan.steps.map(({ id }) => id) : answer.diagnostics;
};

test("an answer may refer to given steps, and the plan begins with them", () => {
  expect(idsOf([BLOG])).toEqual(["author", "blog"]);
});

test("a given step that an answer repeats exactly counts once", () => {
  expect(idsOf([AUTHOR, BLOG])).toEqual(["author", "blog"]);
  const chained = { id: "author", tool: "createAuthor", parameters: { name: "Alice" } };
  expect(idsOf([chained, BLOG])).toEqual(["author", "blog"]);
});

test("a different call with the id of a given step is refused, with its path in the answer", () => {
  const answer = read([BLOG, { ...AUTHOR, arguments: { name: "Bob" } }]);
  expect(answer).toMatchObject({ ok: false });
  expect(answer.diagnostics).toMatchObject([{ code: "STEP_ID_DUPLICATE", path: "steps[1].id" }]);
});

test("paths of diagnostics count from the first step of the answer, and no diagnostic is about a given step", () => {
  const gone = CallStepSchema.parse({ id: "gone", tool: "noLongerThere", arguments: { x: "<author_id>" } });
  const answer = read([{ ...BLOG, arguments: { title: "Hi", authorId: "<<author.name>>" } }], [gone, AUTHOR]);
  expect(answer.diagnostics).toMatchObject([{ stepId: "blog", path: "steps[0].arguments.authorId" }]);
});

test("a repeated given step does not shift the paths of the steps after it", () => {
  const answer = read([AUTHOR, { ...BLOG, arguments: { title: "Hi", authorId: "<<author.name>>" } }]);
  expect(answer.diagnostics).toMatchObject([{ stepId: "blog", path: "steps[1].arguments.authorId" }]);
});

test("an answer without its own steps is not a plan", () => {
  expect(read([])).toMatchObject({ ok: false, diagnostics: [{ code: "PLAN_EMPTY" }] });
});

test("without given steps a plan is read as usual", () => {
  const answer = read([AUTHOR, BLOG], []);
  expect(answer.ok && PlanSchema.parse(answer.plan).steps).toHaveLength(2);
});
