/**
 * The planner dies, is suspended for longer than its lease, or fails, at every point where a write, a read or
 * a call of a replan or an answer begins or ends. In each case there is one new version, or one answer. It
 * costs one more model call if the answer was not recorded, otherwise none. `npm test` kills around the two
 * writes; `npm run proof` does the rest.
 */
import { PlanSchema, type RequestId } from "@planwright/plan";
import type { Store } from "@planwright/store";
import { answer, eventually, listSteps, testAndProof } from "@planwright/testing";
import { test } from "vitest";
import { openCrashBench, PAUSE_MS } from "./crashing-planner.ts";
import { ANSWER, SENTENCE } from "./tools.ts";

const TENANT = "default";
const killed = (points: string[]) => points.map((point) => `${point}=kill`);
const stored = (point: string) => [
  ...killed([`${point}.before`, `${point}.after`]),
  `${point}.before=pause:${PAUSE_MS}`,
  `${point}.after=pause:${PAUSE_MS}`,
  `${point}.before=error`,
  `${point}.after=error`,
];
const CASES = {
  replan: [
    ...killed([
      "planner.claim.after",
      "planner.read.before",
      "planner.reserve.before",
      "planner.reserve.after",
    ]),
    ...killed(["planner.model.after", "planner.settle.before", "planner.settle.after"]),
    ...stored("planner.replan"),
    ...killed(["planner.offer.before", "planner.offer.after"]),
  ],
  answer: [
    ...killed(["planner.claim.after", "planner.write-answer.before", "planner.write-answer.after"]),
    ...stored("planner.answer"),
  ],
};
const ALL = (["replan", "answer"] as const).flatMap((work) =>
  CASES[work].map((setting) => ({ work, setting })),
);

/** A request whose plan has ended, with work for a planner. */
async function ended(store: Store, work: "replan" | "answer"): Promise<RequestId> {
  const options = { maxReplans: work === "replan" ? 1 : 0, wantsAnswer: work === "answer" };
  const { _id } = await store.createRequest({
    tenant: TENANT,
    query: SENTENCE,
    autoExecute: true,
    ...options,
  });
  // It is due at the server's time as this process reads it, which may be slightly later than the server.
  const planning = await eventually(() => store.claimRequest(_id, "test planner"));
  const origin = { kind: "model", model: "test" } as const;
  const plan = PlanSchema.parse(ANSWER);
  const stored = await store.completePlanning(planning, { plan, raw: null, origin, diagnostics: [] });
  const claim = (await store.claimPlan(stored._id, "test executor"))!;
  const [folder, note] = ["createFolder", "createNote"].map((key) => ({ key, stepId: key, attempts: 1 }));
  const made = { ...folder!, status: "COMPLETED" as const, output: { _id: "f1", name: "Work" } };
  const hasFailed = work === "replan";
  const error = { code: "TOOL_FAILED", message: "no such title", retryable: false };
  const calls = [made, note!].map(({ key, stepId }) => {
    const call = {
      key,
      stepId,
      attempt: 1,
      tool: key,
      arguments: {},
      effectClass: "R",
      mayAct: false,
      timeoutMs: 1_000,
    } as const;
    return { call, attemptId: key, argsHash: "test" };
  });
  store.noteIntents(claim, calls);
  await store.writeRecords(
    claim,
    [
      made,
      hasFailed
        ? { ...note!, status: "FAILED", error }
        : { ...note!, status: "COMPLETED", output: { _id: "n1" } },
    ],
    [],
  );
  const status = hasFailed ? "FAILED" : "COMPLETED";
  await store.finishPlan(claim, { type: "finish", status, outputs: {}, ...(hasFailed ? { error } : {}) });
  return _id;
}

const IN_TEST = [
  "planner.settle.before=kill replan",
  "planner.replan.before=kill replan",
  "planner.answer.after=kill answer",
];

for (const { cases, options } of testAndProof(ALL, ({ setting, work }) => `${setting} ${work}`, IN_TEST))
  test.concurrent.for(cases)(
    "$setting in a $work costs at most one more call, and ends once",
    options,
    async ({ setting, work }, { expect, onTestFinished }) => {
      const note = { id: "createNote", tool: "createNote" };
      const steps = [{ ...note, arguments: { title: "Hi", folderId: "<<createFolder._id>>" } }];
      const reply = work === "replan" ? answer({ steps }) : answer("It is done.");
      const { store, model, start, crash } = await openCrashBench(() => reply, onTestFinished);
      const requestId = await ended(store, work);

      await crash(setting);
      // A planner that only failed continues without a second one.
      if (!setting.endsWith("error")) await start();

      const hasEnded = async () => {
        const request = await store.getRequest(TENANT, requestId);
        return request?.dueAt === null && request.lease === null;
      };
      await expect.poll(hasEnded).toBe(true);
      const request = await store.getRequest(TENANT, requestId);
      const plans = await store.listPlanHeadsOf(TENANT, [requestId]);
      expect(model.requests).toHaveLength(setting === "planner.settle.before=kill" ? 2 : 1);
      if (work === "answer") {
        expect(request).toMatchObject({ status: "COMPLETED", answer: "It is done.", answerError: null });
        expect(plans).toHaveLength(1);
        return;
      }
      expect(request).toMatchObject({ status: "EXECUTING", version: 2, planId: plans[0]?._id, error: null });
      expect(plans.map(({ version, status }) => [version, status])).toEqual([
        [2, "QUEUED"],
        [1, "FAILED"],
      ]);
      const units = await listSteps(store, TENANT, [plans[0]!._id]);
      expect(units.map(({ key, status, carriedFrom }) => [key, status, carriedFrom])).toEqual([
        ["createFolder", "COMPLETED", plans[1]?._id],
        ["createNote", "PENDING", null],
      ]);
    },
  );
