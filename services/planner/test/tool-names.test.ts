import { createDrafter, type Drafter } from "@planwright/models";
import { createOfflineDrafter } from "@planwright/offline";
import { type JsonObject, nameTools, toolDigest } from "@planwright/plan";
import { answer, type ModelServer, startModelServer } from "@planwright/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createMemoryPlanningStore } from "./memory-planning-store.ts";
import { planInProcess } from "./plan-in-process.ts";
import { TOOLS } from "./tools.ts";

/** The tools of "notes", and one of them also on "wiki". */
const [createFolder, ...others] = TOOLS;
const BOTH = nameTools([...TOOLS, { ...createFolder!, server: "wiki" }]);

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());

/** A model that gives these answers one after another, and the questions that it gets. */
function model(...texts: JsonObject[]): { drafter: Drafter; asked: string[] } {
  const asked: string[] = [];
  server.script((request) => {
    asked.push(JSON.stringify(request));
    return answer(texts[Math.min(asked.length, texts.length) - 1] ?? "");
  });
  const drafter = createDrafter({
    MODEL: "openai:test",
    OPENAI_BASE_URL: server.openAiUrl,
    MODEL_MAX_RETRIES: 0,
  });
  return { drafter, asked };
}

async function plan(drafter: Drafter, query: string) {
  const store = createMemoryPlanningStore({ query, tools: BOTH, autoExecute: false });
  await planInProcess(store, { drafter });
  return { stored: store.plans[0], failure: store.failures[0] };
}

const calling = (tool: string): JsonObject => ({ steps: [{ id: "a", tool, arguments: { name: "Work" } }] });

test("a model sees names with their servers, and an ambiguous name is reported with both servers", async () => {
  const { drafter, asked } = model(calling("createFolder"), calling("wiki/createFolder"));
  const { stored } = await plan(drafter, "Create folder Work where the team writes, then look at it again");
  expect(asked).toHaveLength(2);
  expect(asked[0]).toContain("notes/createFolder");
  expect(asked[0]).toContain("wiki/createFolder");
  expect(asked[1]).toContain("TOOL_AMBIGUOUS");
  expect(asked[1]).toContain("notes/createFolder, wiki/createFolder");
  expect(stored?.plan?.steps).toMatchObject([{ tool: "wiki/createFolder" }]);
  expect(stored?.toolPins).toEqual([
    expect.objectContaining({
      tool: "wiki/createFolder",
      server: "wiki",
      name: "createFolder",
      digest: toolDigest(createFolder!),
    }),
  ]);
});

test("a model that repeats an ambiguous name makes no plan", async () => {
  const { drafter } = model(calling("createFolder"));
  const { stored, failure } = await plan(
    drafter,
    "Create folder Work, then look at it, then list everything",
  );
  expect(stored).toBeUndefined();
  expect(failure?.error.code).toBe("PLAN_INVALID");
  expect(failure?.error.message).toContain("notes/createFolder, wiki/createFolder");
});

test("the offline drafter does not guess a server, and uses the one in the sentence", async () => {
  const rules = createOfflineDrafter();
  expect((await plan(rules, "Create folder Work")).failure?.error).toMatchObject({
    code: "NOT_UNDERSTOOD",
    message: expect.stringContaining("notes/createFolder, wiki/createFolder"),
  });
  const { stored } = await plan(rules, "Create folder Work on the wiki");
  expect(stored?.toolPins).toMatchObject([{ tool: "wiki/createFolder", server: "wiki" }]);
});

test("every tool of a plan is pinned, whichever drafter made the plan", async () => {
  const { stored } = await plan(createOfflineDrafter(), "Create note titled Hello with folder id f1");
  expect(stored?.toolPins?.map(({ digest }) => digest)).toEqual(others.map(toolDigest));
});
