import { createDrafter } from "@planwright/models";
import { planningAdvice } from "@planwright/plan";
import { EntryTooLargeError } from "@planwright/store";
import { answer, startModelServer } from "@planwright/testing";
import { expect, onTestFinished, test } from "vitest";
import { createMemoryPlanningStore } from "./memory-planning-store.ts";
import { recordOf, TOOLS } from "./past-plans.ts";
import { planInProcess } from "./plan-in-process.ts";

const FIND = { id: "find", tool: "find", arguments: { name: "Alice" } };
const LOOK = { id: "look", tool: "list", arguments: { of: "<<find.id>>" } };

test("a replan whose version is too large to store fails, and is not planned again", async () => {
  const server = await startModelServer();
  onTestFinished(() => server.close());
  server.script(() => answer({ steps: [{ ...LOOK, arguments: { of: "all" } }] }));
  const store = createMemoryPlanningStore({
    query: "Tell Alice",
    tools: TOOLS,
    record: recordOf([FIND, LOOK], { look: { status: "FAILED" } }),
  });
  store.completeReplan = async () => {
    throw new EntryTooLargeError({ place: "req_1/7", sizeBytes: 17_000_000, maxBytes: 16_000_000 });
  };
  const drafter = createDrafter({
    MODEL: "openai:test",
    OPENAI_BASE_URL: server.openAiUrl,
    MODEL_MAX_RETRIES: 0,
  });
  expect(await planInProcess(store, { drafter })).toMatchObject({ type: "failed", code: "PLAN_TOO_LARGE" });
  expect(store.request).toMatchObject({
    status: "FAILED",
    error: { code: "PLAN_TOO_LARGE", message: expect.stringContaining("17000000 bytes") },
  });
  expect(planningAdvice("PLAN_TOO_LARGE").remedy).toBe("Submit what is left to do as a plan of its own.");
});
