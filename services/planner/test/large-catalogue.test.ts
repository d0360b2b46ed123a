import { createDrafter, type Drafter } from "@planwright/models";
import type { JsonObject, ToolDescriptor } from "@planwright/plan";
import { answer, type ModelServer, startModelServer } from "@planwright/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createMemoryPlanningStore, type MemoryPlanningStore } from "./memory-planning-store.ts";
import { planInProcess } from "./plan-in-process.ts";
import { ANSWER, SENTENCE, TOOLS } from "./tools.ts";

let server: ModelServer;
let model: Drafter;
beforeAll(async () => {
  server = await startModelServer();
  model = createDrafter({ MODEL: "openai:test", OPENAI_BASE_URL: server.openAiUrl, MODEL_MAX_RETRIES: 0 });
});
afterAll(() => server.close());

/** 600 tools that have nothing to do with notes, before and after the tools for notes. */
const machines = Array.from(
  { length: 600 },
  (_, index): ToolDescriptor => ({
    name: `drive_engine_${index}`,
    server: "plant",
    description: `Turns the shaft of engine ${index} until it has reached the number of turns that the operator gives.`,
    inputSchema: { type: "object", properties: { turns: { type: "integer" } }, required: ["turns"] },
  }),
);
const CATALOGUE = [...machines.slice(0, 300), ...TOOLS, ...machines.slice(300)];

async function plan(...texts: JsonObject[]): Promise<MemoryPlanningStore> {
  let asked = 0;
  server.script(() => answer(texts[asked++] ?? { steps: [], missing: "nothing is scripted" }));
  const store = createMemoryPlanningStore({ query: SENTENCE, tools: CATALOGUE });
  await planInProcess(store, { drafter: model });
  return store;
}

/** Names of the tools that a recorded call showed to the model. */
const shownIn = (store: MemoryPlanningStore, call: number): string[] =>
  [...(store.calls[call]?.messages[1]?.content.matchAll(/^\{"name":"([^"]+)"/gm) ?? [])].map(
    ([, name]) => name ?? "",
  );

const call = (tool: string, given: JsonObject): JsonObject => ({
  steps: [{ id: "a", tool, arguments: given }],
});

test("the model sees the tools of a large catalogue that the request needs", async () => {
  const store = await plan(ANSWER);
  expect(store.plans).toHaveLength(1);
  expect(shownIn(store, 0).slice(0, 2).toSorted()).toEqual(["createFolder", "createNote"]);
  expect(shownIn(store, 0).length).toBeLessThan(100);
});

test("a plan may use a tool that exists but was not shown", async () => {
  const store = await plan(call("drive_engine_599", { turns: 1 }));
  expect(shownIn(store, 0)).not.toContain("drive_engine_599");
  expect(store.plans[0]?.plan?.steps).toMatchObject([{ tool: "drive_engine_599" }]);
});

test("a repair gets the most similar names of all tools, and sees these tools", async () => {
  const store = await plan(call("drive_engin_571", { turns: 1 }), call("drive_engine_571", { turns: 1 }));
  expect(shownIn(store, 0)).not.toContain("drive_engine_571");
  expect(store.calls[1]?.messages[3]?.content).toContain("drive_engine_571");
  expect(shownIn(store, 1)).toEqual(
    expect.arrayContaining(["drive_engine_571", "createFolder", "createNote"]),
  );
  expect(store.plans[0]?.plan?.steps).toMatchObject([{ tool: "drive_engine_571" }]);
});
