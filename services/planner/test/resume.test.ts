/**
 * A planner dies before or after each of its writes, in all kinds of work with a model. The planner that
 * takes over uses the recorded answers: there is at most one more call than without the death, no answer
 * counts twice, and the result is the same.
 */
import { createDrafter } from "@planwright/models";
import type { JsonObject, ToolDescriptor } from "@planwright/plan";
import type { ModelLimits, PlanningStore, PlanRecord } from "@planwright/store";
import {
  answer,
  type ModelRequest,
  type ModelServer,
  type ScriptedReply,
  startModelServer,
  testAndProof,
} from "@planwright/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createMemoryPlanningStore, type MemoryPlanningStore } from "./memory-planning-store.ts";
import { TOOLS as PAST_TOOLS, recordOf } from "./past-plans.ts";
import { planInProcess } from "./plan-in-process.ts";
import { ANSWER, SENTENCE, TOOLS } from "./tools.ts";

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());

interface Scenario {
  name: string;
  query?: string;
  tools?: ToolDescriptor[];
  record?: PlanRecord;
  work?: "answer";
  limits?: ModelLimits;
  /** Number of answered calls without a death. */
  calls: number;
  reply: (request: ModelRequest, isAfterDeath: boolean) => ScriptedReply;
  /** The result. */
  end: (store: MemoryPlanningStore) => unknown;
}

const planOf = (id: string, tool: string, args: JsonObject): JsonObject => ({
  steps: [{ id, tool, arguments: args }],
});
const WRONG_TOOL = planOf("a", "createFoldr", { name: "Work" });
const NO_NAME = planOf("a", "createFolder", {});

const weather: ToolDescriptor = {
  name: "get_weather",
  description: "Returns the current weather in a city.",
  inputSchema: {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  },
};
const WEATHER = { query: "What is the weather in Oslo?", tools: [weather] };
const WEATHER_PLAN = planOf("w", "get_weather", { city: "Oslo" });
const PAST = { query: "do it", tools: PAST_TOOLS };
const STEPS = [
  { id: "a", tool: "find", arguments: {} },
  { id: "b", tool: "list", arguments: { of: "<<a.value>>" } },
];

const isDirect = ({ body }: ModelRequest) => body["tools"] !== undefined;
/** The draft that a repair must correct; null for other requests. */
function previousOf({ body }: ModelRequest): string | null {
  const messages = JSON.parse(JSON.stringify(body["messages"]));
  return messages[2]?.content ?? null;
}
/** The replies to a draft and to its repair. */
const drafts = (request: ModelRequest, draft: JsonObject, repaired: JsonObject) =>
  answer(previousOf(request) === null ? draft : repaired);

const plans = (store: MemoryPlanningStore) => store.plans.map(({ plan }) => plan?.steps);
const SCENARIOS: Scenario[] = [
  { name: "a draft", calls: 1, reply: () => answer(ANSWER), end: plans },
  {
    name: "two repairs",
    calls: 3,
    reply: (request) =>
      previousOf(request) === JSON.stringify(NO_NAME) ? answer(ANSWER) : drafts(request, WRONG_TOOL, NO_NAME),
    end: plans,
  },
  {
    name: "a repair without success",
    calls: 2,
    reply: () => answer(WRONG_TOOL),
    end: ({ failures }) => failures.map(({ error }) => error),
  },
  {
    name: "a question from a repair",
    calls: 2,
    reply: (request) => drafts(request, WRONG_TOOL, { steps: [], missing: ["Which name?"] }),
    end: ({ request }) => request.questions,
  },
  {
    name: "a direct call",
    ...WEATHER,
    limits: { maxModelCalls: 2, maxTokens: null, maxCostUsd: null },
    calls: 1,
    reply: (request) =>
      isDirect(request)
        ? { type: "answer", toolCalls: [{ name: "get_weather", arguments: { city: "Oslo" } }] }
        : answer(WEATHER_PLAN),
    end: (store) => plans(store).map((steps) => steps?.map((step) => ({ ...step, id: "any" }))),
  },
  ...[
    answer("PLAN"),
    { ...answer(""), refusal: "I will not" },
    { ...answer("P"), finishReason: "length" } as const,
  ].map(
    (direct): Scenario => ({
      name: `a direct call that is answered ${JSON.stringify(direct)}, a draft and a repair`,
      ...WEATHER,
      calls: 3,
      reply: (request) => (isDirect(request) ? direct : drafts(request, WRONG_TOOL, WEATHER_PLAN)),
      end: plans,
    }),
  ),
  {
    name: "a fallback model, while the first model works again",
    calls: 2,
    reply: (request, isAfterDeath) =>
      request.body["model"] === "test" && !isAfterDeath
        ? { type: "error", status: 401 }
        : drafts(request, WRONG_TOOL, ANSWER),
    end: plans,
  },
  {
    name: "a replan and a repair",
    ...PAST,
    record: recordOf(STEPS, { b: { status: "FAILED" } }),
    calls: 2,
    reply: (request) => drafts(request, planOf("c", "lst", {}), planOf("c", "list", { of: "<<a.value>>" })),
    end: plans,
  },
  {
    name: "results in words",
    ...PAST,
    record: recordOf(STEPS, {}),
    work: "answer",
    calls: 1,
    reply: () => answer("It is done."),
    end: ({ request }) => request.answer,
  },
];

/** The writes before and after which a planner dies. */
const WRITES: readonly (keyof PlanningStore)[] = [
  "beginModelCall",
  "endModelCall",
  "completePlanning",
  "failPlanning",
  "askQuestions",
  "completeReplan",
  "completeAnswer",
];

/** The same store for a planner that dies at one of these points and does nothing more. */
function dyingAt(point: number, store: MemoryPlanningStore) {
  let passed = 0;
  const life = { hasEnded: false };
  const pass = () => {
    life.hasEnded ||= passed === point;
    passed += 1;
    if (life.hasEnded) throw new TypeError("the planner is dead");
  };
  const dying = new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function" || !WRITES.some((write) => write === name)) return value;
      return async (...args: unknown[]) => {
        pass();
        const result: unknown = await Reflect.apply(value, target, args);
        pass();
        return result;
      };
    },
  });
  return { dying, life };
}

/** Does the work once, like a separate process. */
function run(store: MemoryPlanningStore, reused: string[] = []) {
  const drafter = createDrafter({
    MODEL: "openai:test",
    FALLBACK_MODEL: "openai:other",
    OPENAI_BASE_URL: server.openAiUrl,
    MODEL_MAX_RETRIES: 0,
  });
  return planInProcess(store, { drafter, onReuse: (_, { purpose }) => reused.push(purpose) });
}

function open({ query = SENTENCE, tools = TOOLS, record, work, limits, reply }: Scenario) {
  const store = createMemoryPlanningStore({
    query,
    tools,
    ...(record ? { record } : {}),
    ...(limits ? { modelLimits: limits } : {}),
  });
  if (work) store.request.planning.work = work;
  const seen = { answered: 0, isAfterDeath: false };
  server.script((request) => {
    const replied = reply(request, seen.isAfterDeath);
    if (replied.type === "answer") seen.answered += 1;
    return replied;
  });
  return { store, seen };
}

/** One of each kind of work. `npm run proof` plays the others. */
const IN_TEST = [
  "a draft",
  "a question from a repair",
  "a direct call",
  "a replan and a repair",
  "results in words",
];
const PARTS = testAndProof(SCENARIOS, ({ name }) => name, IN_TEST);

for (const { cases, options } of PARTS)
  test.each(cases)("$name: a death at any point costs at most one more call", options, async (scenario) => {
    const undisturbed = open(scenario);
    await run(undisturbed.store);
    const wanted = scenario.end(undisturbed.store);
    expect(undisturbed.seen.answered).toBe(scenario.calls);

    let deaths = 0;
    const reused: string[] = [];
    for (let point = 0; ; point += 1) {
      const { store, seen } = open(scenario);
      const { dying, life } = dyingAt(point, store);
      await run(dying).catch((error: unknown) => {
        if (!life.hasEnded) throw error;
      });
      if (!life.hasEnded) break;
      deaths += 1;
      seen.isAfterDeath = true;
      if (store.request.dueAt) store.request.lease = null;
      await run(store, reused);
      expect({
        point,
        end: scenario.end(store),
        isCheap: seen.answered <= scenario.calls + 1,
        // Every question was paid for once; the reservation of a lost call is kept.
        paid: store.request.modelUse?.spent.modelCalls,
      }).toEqual({ point, end: wanted, isCheap: true, paid: scenario.calls });
    }
    expect(deaths).toBeGreaterThanOrEqual(4 * scenario.calls + 2);
    expect(reused.length).toBeGreaterThan(0);
  });

for (const { cases, options } of PARTS)
  test.each(cases)(
    "$name: a model that is away at any call delays the work, and changes nothing else",
    options,
    async (scenario) => {
      const undisturbed = open(scenario);
      await run(undisturbed.store);
      for (let call = 0; call < scenario.calls; call += 1) {
        const { store, seen } = open(scenario);
        let waits = 0;
        server.script((request) => {
          if (seen.answered === call && waits === 0) return { type: "error", status: 503 };
          const replied = scenario.reply(request, false);
          if (replied.type === "answer") seen.answered += 1;
          return replied;
        });
        while ((await run(store)).type === "postponed") waits += 1;
        expect({ call, waits, end: scenario.end(store), answered: seen.answered }).toEqual({
          call,
          waits: 1,
          end: scenario.end(undisturbed.store),
          answered: scenario.calls,
        });
      }
    },
  );
