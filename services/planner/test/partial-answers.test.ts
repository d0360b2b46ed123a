/** An answer of a model is shown while it arrives. */
import { createDrafter, createPriceList } from "@planwright/models";
import { answer, startModelServer } from "@planwright/testing";
import { expect, onTestFinished, test } from "vitest";
import { createMemoryPlanningStore } from "./memory-planning-store.ts";
import { planInProcess } from "./plan-in-process.ts";
import { ANSWER, SENTENCE, TOOLS } from "./tools.ts";

test("each call of a model shows the text that has arrived, longer and longer, up to the whole answer", async () => {
  const server = await startModelServer();
  onTestFinished(() => server.close());
  server.script(() => answer(ANSWER, { chunkSize: 8 }));
  const store = createMemoryPlanningStore({ query: SENTENCE, tools: TOOLS });
  const shown: { callId: string; text: string }[] = [];
  await planInProcess(store, {
    drafter: createDrafter({ MODEL: "openai:test", OPENAI_BASE_URL: server.openAiUrl, MODEL_MAX_RETRIES: 0 }),
    prices: createPriceList({}),
    partialAnswers: { open: (callId) => ({ arrived: (text) => void shown.push({ callId, text }) }) },
  });
  const whole = JSON.stringify(ANSWER);
  expect(new Set(shown.map(({ callId }) => callId))).toEqual(new Set(["0"]));
  expect(shown.length).toBe(Math.ceil(whole.length / 8));
  for (const [index, { text }] of shown.entries()) expect(text).toBe(whole.slice(0, (index + 1) * 8));
});
