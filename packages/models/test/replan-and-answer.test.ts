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

test("a replan is requested in the form of plans, which has a forEach when the earlier plan had one", async () => {
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
  const result = await withModel().answer({ query: "who is there?", results, meter, signal });
  expect(result).toMatchObject({ text: "Two authors are there.", model: "openai:test" });
  expect(server.requests[0]?.body).not.toHaveProperty("response_format");
  expect(ends).toEqual(["complete"]);
});

test("an answer that was cut off is an error", async () => {
  server.enqueue(answer("Two authors a", { finishReason: "length" }));
  const result = withModel().answer({ query: "who?", results: [], signal });
  await expect(result).rejects.toMatchObject({ code: "MODEL_ANSWER_TRUNCATED" });
});
