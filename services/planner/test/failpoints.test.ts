/**
 * The planner dies, is suspended for longer than its lease, or fails, at every point where a write, a call or
 * an acknowledgement begins or ends. In each case the request ends once, with at most one plan and at most
 * one extra model call. `npm test` has one point of each kind of work; `npm run proof` has the others.
 */
import type { JsonObject } from "@planwright/plan";
import { answer, listSteps, type ModelScript, testAndProof } from "@planwright/testing";
import { test } from "vitest";
import { openCrashBench, PAUSE_MS, SLOW_MODEL_MS } from "./crashing-planner.ts";
import { ANSWER, SENTENCE } from "./tools.ts";

const TENANT = "default";
const FOLDER: JsonObject = { id: "createFolder", tool: "createFolder", arguments: { name: "Work" } };
const WRONG: JsonObject = { steps: [{ ...FOLDER, tool: "createFoldr" }] };
const QUICK = { firstTokenMs: 100 };

/** The work of a planner without faults. */
interface Work {
  query?: string;
  env?: Record<string, string>;
  script: ModelScript;
  /** Calls of the model. */
  calls: number;
  /** The status of the request at the end. Default: it has a plan, which is offered to executors. */
  status?: "FAILED" | "NEEDS_INPUT";
  /** Steps of the plan. */
  steps?: number;
}

const PLAN: Work = { script: () => answer(ANSWER, QUICK), calls: 1, steps: 2 };
const WORKS = {
  plan: PLAN,
  // Slow, so that held requests are compared with the database while the model answers.
  slowly: { ...PLAN, script: () => answer(ANSWER, { firstTokenMs: SLOW_MODEL_MS }) },
  // Only the work of the offline drafter is recorded in one write.
  "by rules": { ...PLAN, calls: 0, env: { MODEL: "offline" } },
  repair: {
    ...PLAN,
    script: ({ body }) => answer(JSON.stringify(body).includes("createFoldr") ? ANSWER : WRONG, QUICK),
    calls: 2,
  },
  directly: {
    query: "Create folder Work",
    script: ({ body }) =>
      body["tools"] === undefined
        ? answer({ steps: [FOLDER] })
        : { type: "answer", toolCalls: [{ name: "createFolder", arguments: { name: "Work" } }], ...QUICK },
    calls: 1,
    steps: 1,
  },
  "a model that is away": {
    ...PLAN,
    script: ({ index }) => (index === 0 ? { type: "error", status: 500 } : answer(ANSWER, QUICK)),
    env: { MODEL_MAX_RETRIES: "0" },
    calls: 2,
  },
  "in vain": { script: () => answer("I cannot do that."), calls: 2, status: "FAILED" },
  "with a question": {
    script: () => answer({ steps: [], missing: ["Which folder?"] }),
    calls: 1,
    status: "NEEDS_INPUT",
  },
} satisfies Record<string, Work>;

const around = (point: string, work: keyof typeof WORKS, actions = ["kill", `pause:${PAUSE_MS}`, "error"]) =>
  ["before", "after"].flatMap((side) =>
    actions.map((action) => ({ setting: `${point}.${side}=${action}`, work })),
  );
const CASES: { setting: string; work: keyof typeof WORKS }[] = [
  ...around("planner.sweep", "plan"),
  ...around("planner.claim", "plan"),
  ...around("planner.beat", "slowly"),
  ...around("planner.held", "slowly"),
  ...around("planner.model", "plan"),
  ...around("planner.record", "by rules"),
  ...around("planner.reserve", "plan"),
  ...around("planner.settle", "plan"),
  ...around("planner.store", "plan"),
  ...around("planner.fail", "in vain"),
  ...around("planner.offer", "plan"),
  ...around("planner.postpone", "a model that is away"),
  ...around("planner.ask", "with a question", ["kill", "error"]),
  ...around("planner.direct", "directly", ["kill", "error"]),
  // While the model answers the repair, after its answer was recorded, and before the plan is stored.
  { setting: "planner.settle.before=kill@2", work: "repair" },
  { setting: "planner.settle.after=kill@2", work: "repair" },
  { setting: "planner.store.before=kill", work: "repair" },
];

const IN_TEST = [
  "planner.claim.after=kill plan",
  "planner.model.after=kill plan",
  "planner.record.before=kill by rules",
  "planner.settle.before=kill@2 repair",
  "planner.store.before=kill plan",
  "planner.fail.before=kill in vain",
  "planner.ask.before=kill with a question",
  "planner.direct.after=kill directly",
  "planner.postpone.before=kill a model that is away",
];

for (const { cases, options } of testAndProof(CASES, ({ setting, work }) => `${setting} ${work}`, IN_TEST))
  test.concurrent.for(cases)(
    "$setting while planning ($work) ends the request once",
    options,
    async ({ setting, work }, { expect, onTestFinished }) => {
      const { query = SENTENCE, env, script, calls, status, steps = 0 }: Work = WORKS[work];
      const { store, model, start, crash } = await openCrashBench(script, onTestFinished);
      const { _id: requestId } = await store.createRequest({ tenant: TENANT, query, autoExecute: true });

      await crash(setting, env);
      // A planner that only failed continues without a second one.
      if (!setting.endsWith("error")) await start(env);

      const hasEnded = async () => (await store.getRequest(TENANT, requestId))?.status !== "PLANNING";
      await expect.poll(hasEnded).toBe(true);
      const request = await store.getRequest(TENANT, requestId);
      const plans = await store.listPlanHeadsOf(TENANT, [requestId]);
      expect(request?.status).toBe(status ?? "EXECUTING");
      expect(model.requests.length).toBeLessThanOrEqual(calls + 1);
      if (status !== undefined) {
        expect(plans.filter(({ status: end }) => end !== "INVALID")).toEqual([]);
        return;
      }
      expect(plans).toMatchObject([{ _id: request?.planId, status: "QUEUED", version: 1 }]);
      expect(
        await listSteps(
          store,
          TENANT,
          plans.map(({ _id }) => _id),
        ),
      ).toHaveLength(steps);
    },
  );
