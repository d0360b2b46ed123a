import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { type ModelServer, type ScriptedReply, startModelServer } from "@planwright/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { modelCases } from "./cases/model-cases.ts";

const CASES = modelCases().filter(({ domain }) => domain === "three-tools");
const MAIN = fileURLToPath(new URL("main.ts", import.meta.url));

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer({ apiKey: "secret" });
});
afterAll(() => server.close());

/** Runs the command as a developer types it, against a server of the OpenAI protocol. */
async function evals(env: Record<string, string>, options = ["--model", "openai:live"]) {
  const args = ["--import", "tsx", "-C", "@planwright/source", MAIN];
  const child = spawn(process.execPath, [...args, ...options, "--domain", "three-tools", "--json"], {
    env: {
      PATH: process.env["PATH"] ?? "",
      OPENAI_BASE_URL: server.openAiUrl,
      MODEL_MAX_RETRIES: "0",
      ...env,
    },
  });
  const ended = once(child, "exit");
  const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  await ended;
  return { code: child.exitCode, report: JSON.parse(out.trim().split("\n").at(-1) ?? "") as object, errors };
}

test("a live model at a base URL is asked, and its answers are graded", async () => {
  server.script(({ body }): ScriptedReply => {
    const prompt = JSON.stringify(body["messages"]);
    const found = CASES.find(({ query }) => prompt.includes(query));
    return (
      (body["tools"] === undefined ? found?.answers.at(-1) : found?.direct) ?? {
        type: "answer",
        text: "PLAN",
      }
    );
  });
  const { code, report } = await evals({ OPENAI_API_KEY: "secret" });
  expect(report).toMatchObject({
    model: "openai:live",
    losses: [],
    groups: { all: { cases: CASES.length, figures: { exactPlans: 100, questions: 100 } } },
  });
  expect(code).toBe(0);
});

test("with a refused key the exit code is 1, with a message", { tags: ["proof"] }, async () => {
  const { code, errors } = await evals({ OPENAI_API_KEY: "old" });
  expect(code).toBe(1);
  expect(errors).toContain("got no answer");
});

test("a run beyond its time limit has the exit code 1, with a message", { tags: ["proof"] }, async () => {
  const { code, report, errors } = await evals({}, ["--max-seconds", "0.001"]);
  expect(report).toMatchObject({ losses: [], durationMs: expect.any(Number) });
  expect(errors).toContain("too slow: more than the 0.001 s");
  expect(code).toBe(1);
});
