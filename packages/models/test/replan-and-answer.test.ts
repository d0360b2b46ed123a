import { answer, type ModelServer, startModelServer } from "@planwright/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createDrafter, type ReplanRequest } from "../src/index.ts";
import { BLOG } from "./catalogues/blog.ts";

let server: ModelServer;
beforeEach(async () => {
  server = await startModelServer();
});
afterEach(() => server.close());

const signal = new AbortController().signal;
const replanOf = (isList: boolean): ReplanRequest => ({
  steps: [
    {
      id: "s",
      tool: "listAuthors",
      call: {},
      isList,
      status: "failed",
      error: { code: "TOOL_FAILED", message: "m" },
    },
  ],
  note: null,
});
const withModel = () =>
  createDrafter({ MODEL: "openai:test", OPENAI_BASE_URL: server.openAiUrl, MODEL_MAX_RETRIES: 0 });

test("a replan is held to the form of plans, which offers a forEach where the plan before had one", async () => {
  server.enqueue({ steps: [] }, { steps: [] });
  const drafter = withModel();
  for (const isList of [false, true])
    await drafter.draft({ query: "q", tools: BLOG, replan: replanOf(isList), signal });
  const forms = server.requests.map(({ body }) => JSON.stringify(body["response_format"]));
  expect(forms.map((form) => form.includes('"strict":true'))).toEqual([true, true]);
  expect(forms.map((form) => form.includes('"forEach"'))).toEqual([false, true]);
});

test("an answer is plain text, and its call is metered", async () => {
  server.enqueue(answer("Two authors are there."));
  const ends: string[] = [];
  const meter = {
    begin: async () => ({ end: async ({ spent }: { spent: string }) => void ends.push(spent) }),
  };
  const results = [{ id: "listAuthors", tool: "listAuthors", output: [{ name: "Alice" }, { name: "Bob" }] }];
  const told = await withModel().answer({ query: "who is there?", results, meter, signal });
  expect(told).toMatchObject({ text: "Two authors are there.", model: "openai:test" });
  expect(server.requests[0]?.body).not.toHaveProperty("response_format");
  expect(ends).toEqual(["complete"]);
});

test("an answer that was cut off is none", async () => {
  server.enqueue(answer("Two authors a", { finishReason: "length" }));
  const told = withModel().answer({ query: "who?", results: [], signal });
  await expect(told).rejects.toMatchObject({ code: "MODEL_ANSWER_TRUNCATED" });
});
