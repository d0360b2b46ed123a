import type { RequestId } from "@planwright/plan";
import { toQuestions } from "@planwright/reading";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningApi, startTestApi } from "./running-api.ts";
import { failPlanningAs, keepDraftAs } from "./workers.ts";

let running: RunningApi;
beforeAll(async () => {
  running = await startTestApi();
});
afterAll(() => running.close());

async function requestWithQuestions(kind: "model" | "offline" = "offline"): Promise<RequestId> {
  const { body } = await running.graphql('mutation { createPlan(query: "Create a blog") { requestId } }');
  const { requestId } = body.data.createPlan;
  await keepDraftAs(running.store, requestId, kind);
  return requestId;
}

const OPEN = "openQuestions { id question stepId tool parameter schema }";
const read = async (requestId: string) =>
  (
    await running.graphql(
      `query ($id: ID!) { request(requestId: $id) { status questions ${OPEN} answers { questionId stepId parameter value answer } } }`,
      { id: requestId },
    )
  ).body.data.request;
const give = (id: string, given: { answers?: string[]; values?: object[] }) =>
  running.graphql(
    `mutation ($id: ID!, $answers: [String!], $values: [QuestionValue!]) {
      answerQuestions(requestId: $id, answers: $answers, values: $values) { status ${OPEN} } }`,
    { id, ...given },
  );

test("an open question names its step, tool, argument and schema", async () => {
  const { status, questions, openQuestions } = await read(await requestWithQuestions());
  expect(status).toBe("NEEDS_INPUT");
  expect(openQuestions).toEqual([
    {
      id: "q1",
      question: 'What should "email" of createAuthor be? Give an e-mail address.',
      stepId: "createAuthor",
      tool: "createAuthor",
      parameter: "email",
      schema: { type: "string", format: "email" },
    },
    expect.objectContaining({
      id: "q2",
      stepId: "createBlog",
      parameter: "title",
      schema: { type: "string" },
    }),
  ]);
  expect(questions).toEqual(openQuestions.map(({ question }: { question: string }) => question));
});

test("values are assigned to the questions that they name, also in several calls", async () => {
  const id = await requestWithQuestions();
  const first = await give(id, { values: [{ questionId: "q2", value: "Hello" }] });
  expect(first.body.data.answerQuestions).toMatchObject({
    status: "NEEDS_INPUT",
    openQuestions: [{ id: "q1" }],
  });
  const second = await give(id, { values: [{ questionId: "q1", value: "zoe@post.org" }] });
  expect(second.body.data.answerQuestions).toEqual({ status: "PLANNING", openQuestions: [] });
  expect(running.offered.at(-1)).toBe(`planning ${id}`);
  expect((await read(id)).answers).toEqual([
    { questionId: "q2", stepId: "createBlog", parameter: "title", value: "Hello", answer: "Hello" },
    {
      questionId: "q1",
      stepId: "createAuthor",
      parameter: "email",
      value: "zoe@post.org",
      answer: "zoe@post.org",
    },
  ]);
});

test("answers are assigned to the open questions in order, with labels and without", async () => {
  const id = await requestWithQuestions();
  await give(id, { answers: ["email: zoe@post.org", "Hello"] });
  expect((await read(id)).answers).toMatchObject([
    { questionId: "q1", value: "zoe@post.org", answer: "email: zoe@post.org" },
    { questionId: "q2", value: "Hello" },
  ]);
});

test.each([
  ["in words", { answers: ["Zoe", "Hello"] }],
  ["in a sentence, which only a model could read", { answers: ["I do not know her address", "Hello"] }],
  [
    "as a value",
    {
      values: [
        { questionId: "q2", value: "Hello" },
        { questionId: "q1", value: 5 },
      ],
    },
  ],
  ["as what the question's own example would be", { answers: ["<e-mail address>", "Hello"] }],
])(
  "an answer that does not fit, %s, is refused with a reason, and every question stays open",
  async (_, given) => {
    const id = await requestWithQuestions();
    const { body } = await give(id, given);
    expect(body.errors[0]).toMatchObject({
      message: expect.stringContaining("email takes an e-mail address"),
      extensions: { code: "ANSWER_UNFIT", requestId: id, unfit: [{ questionId: "q1" }] },
    });
    expect(await read(id)).toMatchObject({
      status: "NEEDS_INPUT",
      openQuestions: [{ id: "q1" }, { id: "q2" }],
      answers: [],
    });
  },
);

test("further text in an answer is passed to the model, and its draft is abandoned", async () => {
  const id = await requestWithQuestions("model");
  const { body } = await give(id, { answers: ["she has none, so leave the author out", "Hello"] });
  expect(body.data.answerQuestions).toEqual({ status: "PLANNING", openQuestions: [] });
  const request = await running.store.getRequest("default", id);
  expect(request).toMatchObject({
    draft: null,
    questionsAsked: 2,
    answers: [{ gives: { value: "Hello" } }, { gives: null }],
  });
});

test("a short answer that does not fit also goes to the model", async () => {
  const id = await requestWithQuestions("model");
  expect((await give(id, { answers: ["Zoe", "Hello"] })).body.errors[0].extensions.code).toBe("ANSWER_UNFIT");
});

test.each([
  [{}, "exactly one of answers and values"],
  [{ answers: ["a"], values: [{ questionId: "q1", value: "b" }] }, "exactly one of answers and values"],
  [{ answers: ["zoe@post.org"] }, "There are 2 open questions, and 1 answers were given"],
  [{ values: [] }, "No value is given"],
  [{ values: [{ questionId: "q9", value: "x" }] }, 'No open question has the id "q9"'],
  [
    {
      values: [
        { questionId: "q2", value: "x" },
        { questionId: "q2", value: "y" },
      ],
    },
    "Question q2 is answered twice",
  ],
  [{ values: [{ questionId: "q2", value: "x".repeat(20_001) }] }, "An answer has 20001 characters"],
  [{ values: [{ questionId: "q2", value: { $ref: "a", $id: "b" } }] }, "has both $ref and $id"],
  [{ values: [{ questionId: "q2", value: [{ _bsontype: "a" }] }] }, "has a name that no field may have"],
  [{ values: [{ questionId: "q2", value: ["\ud83d"] }] }, "has half of a character"],
])("%j is refused", async (given, says) => {
  const id = await requestWithQuestions();
  const { body } = await give(id, given);
  expect(body.errors[0]).toMatchObject({
    message: expect.stringContaining(says),
    extensions: { code: "BAD_USER_INPUT" },
  });
  expect((await read(id)).openQuestions).toHaveLength(2);
});

test.each([
  [{ values: [{ questionId: "q1", value: { list: [{ _bsontype: "x" }] } }] }, "_bsontype"],
  [{ values: [{ questionId: "q1", value: { $ref: "a", $id: "b" } }] }, "has both $ref and $id"],
  [{ answers: [String.raw`{"name": "half \ud800"}`] }, "half of a character"],
])("a value that MongoDB would refuse or change is refused by name: %j", async (given, says) => {
  const made = await running.graphql('mutation { createPlan(query: "Tag it") { requestId } }');
  const { requestId } = made.body.data.createPlan;
  const inputSchema = { type: "object", properties: { options: { type: "object" } } } as const;
  const questions = toQuestions([{ stepId: "tag", tool: "tag", keys: ["options"] }], {
    tools: [{ name: "tag", inputSchema }],
    asked: 0,
  });
  const claim = (await running.store.claimRequest(requestId, "test planner"))!;
  await running.store.askQuestions(claim, { questions, draft: null });
  const { body } = await give(requestId, given);
  expect(body.errors[0]).toMatchObject({
    message: expect.stringContaining(says),
    extensions: { code: "BAD_USER_INPUT" },
  });
  expect(await read(requestId)).toMatchObject({ status: "NEEDS_INPUT", answers: [] });
});

test.each([3_000, 100_000])("a value that is nested %d levels deep is refused by name", async (levels) => {
  const id = await requestWithQuestions();
  const value = `${"[".repeat(levels)}${"]".repeat(levels)}`;
  const query =
    "mutation ($id: ID!, $values: [QuestionValue!]) { answerQuestions(requestId: $id, values: $values) { id } }";
  const { body } = await running.send("/graphql", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: `{"query":${JSON.stringify(query)},"variables":{"id":"${id}","values":[{"questionId":"q2","value":${value}}]}}`,
  });
  expect(body.errors[0]).toMatchObject({
    message: "The values is nested more than 90 levels deep",
    extensions: { code: "BAD_USER_INPUT", argument: "values" },
  });
});

test("of many concurrent answers to one question one is accepted, and the others are refused", async () => {
  const id = await requestWithQuestions();
  const names = ["a@post.org", "b@post.org", "c@post.org", "d@post.org"];
  const all = await Promise.all(names.map((value) => give(id, { values: [{ questionId: "q1", value }] })));
  const taken = all.filter(({ body }) => body.errors === undefined);
  expect(taken).toHaveLength(1);
  for (const { body } of all.filter((each) => !taken.includes(each))) {
    expect(["STATE_CONFLICT", "BAD_USER_INPUT"]).toContain(body.errors[0].extensions.code);
  }
  expect((await read(id)).answers).toHaveLength(1);
});

test("a request without an open question refuses answers", async () => {
  const { body } = await running.graphql('mutation { createPlan(query: "Create it") { requestId } }');
  const { requestId } = body.data.createPlan;
  await failPlanningAs(running.store, requestId, { code: "NOT_UNDERSTOOD", message: "What?" });
  const refused = await give(requestId, { answers: ["x"] });
  expect(refused.body.errors[0]).toMatchObject({
    message: "The request is FAILED and has no open question; no answer was accepted",
    extensions: { code: "STATE_CONFLICT", status: "FAILED" },
  });
});
