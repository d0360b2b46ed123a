import { createClient, graphql } from "@planwright/client";
import { answer, type CountingTool } from "@planwright/testing";
import { MongoClient } from "mongodb";
import type { Page } from "playwright-core";
import { expectAccessible } from "../console-system.ts";
import { expectInSight, type PlantedSystem, type Problem, press, read, write } from "./acts.ts";

/** A tool that cannot be called without an address. */
export const MAIL_TOOL: CountingTool = {
  name: "send_mail",
  description: "Sends a mail.",
  annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
  contract: { mode: "parallel-safe", side_effects: true, idempotency: "key" },
  effect: "per-key",
  inputSchema: {
    type: "object",
    properties: { to: { type: "string" }, text: { type: "string" } },
    required: ["to", "text"],
  },
};

const CREATE = graphql(`
  mutation ($query: String!, $limits: ModelLimitsInput) {
    createPlan(query: $query, maxReplans: 0, limits: $limits) { requestId }
  }
`);

async function ask({ apiUrl }: PlantedSystem, query: string, limits?: object): Promise<string> {
  const { createPlan } = await createClient({ url: apiUrl }).execute(CREATE, {
    query,
    limits: limits ?? null,
  });
  return createPlan.requestId;
}

/** Waits until the page shows another request than this one. */
async function arriveAtAnother(page: Page, requestId: string): Promise<void> {
  await page.waitForURL((url) => /req_/.test(url.pathname) && !url.pathname.includes(requestId));
}

/** The plan that the model makes of any sentence that it accepts. */
const PLAN = answer(JSON.stringify({ steps: [read("a value of the sentence")] }));

const DAY_MS = 86_400_000;

/** Changes the times of a request, as if its question were asked a day and three hours ago. */
async function moveBack({ mongodbUrl }: PlantedSystem, requestId: string): Promise<void> {
  const client = await MongoClient.connect(mongodbUrl);
  try {
    const asked = new Date(Date.now() - DAY_MS - DAY_MS / 8);
    const requests = client.db().collection<{ _id: string }>("requests");
    await requests.updateOne(
      { _id: requestId },
      { $set: { createdAt: asked, "planning.startedAt": asked, "planning.finishedAt": asked } },
    );
  } finally {
    await client.close();
  }
}

/** Sentences without a plan yet. */
export const PLANNING: readonly Problem[] = [
  {
    name: "the model declines: the sentence is written in other words",
    async plant(system) {
      system.model.script(({ body }) =>
        JSON.stringify(body).includes("in other words")
          ? PLAN
          : { type: "answer", refusal: "I will not plan that." },
      );
      return ask(system, "Do what the model declines");
    },
    cause: "I will not plan that.",
    action: "Send it as a new request",
    async act(page, requestId) {
      await page.getByLabel("Sentence").fill("Read a value of the sentence, in other words");
      await press(page, "Send it as a new request");
      await arriveAtAnother(page, requestId);
    },
    end: ["COMPLETED", 1],
  },
  {
    name: "the model declines: the plan is written by hand",
    async plant(system) {
      system.model.script(() => ({ type: "answer", refusal: "Not that either." }));
      return ask(system, "Do what the model declines too");
    },
    cause: "Not that either.",
    action: "Write a plan at the desk",
    async act(page, requestId) {
      await press(page, "Write a plan at the desk");
      await write(page, read(1));
      await press(page, "Submit and execute");
      await arriveAtAnother(page, requestId);
      await page.getByRole("heading", { name: "Do what the model declines too" }).waitFor();
    },
    end: ["COMPLETED", 1],
  },
  {
    name: "a question is open for a day",
    async plant(system) {
      system.model.script(() =>
        answer({
          steps: [{ id: "send", tool: "send_mail", arguments: { text: "Hello" } }],
          missing: [{ step: "send", parameter: "to", question: "To whom?" }],
        }),
      );
      const requestId = await ask(system, "Send a mail that says Hello");
      await system.expectStatus(requestId, "NEEDS_INPUT");
      await moveBack(system, requestId);
      return requestId;
    },
    planted: "NEEDS_INPUT",
    cause: "the planner needs 1 answer before it can continue; it has waited for 27 h",
    action: "Answer: the plan continues",
    async act(page) {
      await page.getByLabel("To whom?").fill("ann@test.com");
      await press(page, "Answer: the plan continues");
    },
    end: ["COMPLETED", 1],
  },
  {
    name: "the budget of the model is exceeded",
    async plant(system) {
      system.model.script(() => PLAN);
      return ask(system, "Read a value of the sentence", { maxTokens: 100 });
    },
    cause: "The limit maxTokens of this request is 100 tokens",
    action: "Send it as a new request",
    async act(page, requestId) {
      await expectInSight(page, "tokens at most");
      await expectAccessible(page);
      await press(page, "Send it as a new request");
      await arriveAtAnother(page, requestId);
    },
    end: ["COMPLETED", 1],
  },
];
