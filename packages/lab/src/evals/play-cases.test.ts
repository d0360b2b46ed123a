import { createDrafter } from "@planwright/models";
import { answer, startModelServer } from "@planwright/testing";
import { expect, test } from "vitest";
import { modelCases } from "./cases/model-cases.ts";
import { isUnanswered, playLive, playRecorded } from "./play-cases.ts";

const CASES = modelCases().filter(({ domain }) => domain === "smart-home");

test("recorded answers are played in order, repairs and offers of tools included", async () => {
  const repaired = CASES.filter(({ answers }) => answers.length === 2);
  const graded = await playRecorded(repaired);
  expect(graded.map(({ played, grade }) => [played.calls, played.repairs, grade.isRight])).toEqual(
    repaired.map(() => [3, 1, true]),
  );
});

test("a live model is asked through its protocol, without recorded answers, and its plans are graded", async () => {
  const steps = [{ id: "x", tool: "lock-door", arguments: { door: "garage" } }];
  const server = await startModelServer({ apiKey: "secret", script: () => answer({ steps }) });
  const drafter = createDrafter({
    MODEL: "openai:live",
    OPENAI_BASE_URL: server.openAiUrl,
    OPENAI_API_KEY: "secret",
  });
  const graded = await playLive(CASES, drafter, () => {});
  await server.close();
  const drafts = server.requests.filter(({ body }) => body["tools"] === undefined);
  expect(drafts).toHaveLength(CASES.length);
  const right = graded.filter(({ grade }) => grade.isRight).map(({ id }) => id);
  expect(right).toEqual(["model/smart-home: underscores for dashes, then dashes"]);
});

test("requests that the provider rejected are distinguished from wrong answers", async () => {
  const server = await startModelServer({ apiKey: "secret" });
  const drafter = createDrafter({
    MODEL: "openai:live",
    OPENAI_BASE_URL: server.openAiUrl,
    OPENAI_API_KEY: "old",
  });
  const graded = await playLive(CASES, drafter, () => {});
  await server.close();
  expect(graded.filter(isUnanswered)).toHaveLength(CASES.length);
  expect((await playRecorded(CASES)).filter(isUnanswered)).toEqual([]);
});
