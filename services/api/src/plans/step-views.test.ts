import { toStepRun } from "@planwright/engine";
import { createPlanId, createRequestId, parsePlan, pinTools, type StepStatus } from "@planwright/plan";
import { newPlan, newRequest } from "@planwright/store";
import { expect, test } from "vitest";
import { attemptsSeen, stepViews, stepViewsOfPage } from "./step-views.ts";

const NOW = new Date(1_700_000_000_000);
const TOOLS = [
  { name: "read", annotations: { readOnlyHint: true } },
  { name: "deploy", override: { barrier: true } },
];
const STEPS = [
  { id: "before", tool: "read" },
  { id: "deploy", tool: "deploy" },
  { id: "after", tool: "read" },
];

const LIVE = { planner: 0, executor: 1, owners: new Set(["e"]) };

function running(statuses: Record<string, StepStatus>) {
  const parsed = parsePlan({ steps: STEPS }, { tools: TOOLS });
  if (!parsed.ok) throw new TypeError(JSON.stringify(parsed.diagnostics));
  const random = (bytes: Uint8Array) => bytes.fill(1);
  const request = newRequest({
    requestId: createRequestId(NOW.getTime(), random),
    planId: createPlanId(NOW.getTime(), random),
    tenant: "default",
    source: "plan",
    query: null,
    autoExecute: true,
    now: NOW,
  });
  const stored = newPlan({
    request,
    plan: parsed.plan,
    toolPins: pinTools(parsed.plan, TOOLS),
    raw: null,
    origin: { kind: "submitted", model: null },
    diagnostics: [],
    status: "READY",
    now: NOW,
  });
  const lease = { owner: "e", epoch: 1 };
  const plan = { ...stored, status: "RUNNING" as const, lease, resolutions: [] };
  const units = STEPS.map(({ id, tool }, position) => ({
    ...toStepRun(
      { ...plan, planId: plan._id },
      { step: { id, tool, hasCauses: false }, position, item: null, key: id, unit: undefined },
    ),
    status: statuses[id] ?? ("PENDING" as const),
  }));
  return { plan, units };
}

test.each<[string, Record<string, StepStatus>, (string | null)[]]>([
  [
    "a barrier waits until no other step runs, and later steps wait for the barrier",
    { before: "RUNNING" },
    [null, "dependency", "dependency"],
  ],
  ["a barrier runs", { before: "COMPLETED", deploy: "RUNNING" }, [null, null, "dependency"]],
  [
    "a barrier waits for approval",
    { before: "COMPLETED", deploy: "WAITING_APPROVAL" },
    [null, "approval", "dependency"],
  ],
  ["a barrier has ended", { before: "COMPLETED", deploy: "SKIPPED" }, [null, null, "limit"]],
])("%s", (_, statuses, reasons) => {
  const { plan, units } = running(statuses);
  expect(stepViews(plan, units, LIVE).map(({ waitsFor }) => waitsFor)).toEqual(reasons);
});

test("a page without the barrier reads its status", async () => {
  const { plan, units } = running({ before: "COMPLETED", deploy: "RUNNING" });
  const [view] = stepViewsOfPage(plan, units.slice(2), LIVE, async (id) =>
    id === "deploy" ? "RUNNING" : null,
  );
  expect(typeof view?.waitsFor === "function" && (await view.waitsFor())).toBe("dependency");
});

test("an attempt without an end is running only while its executor is alive", () => {
  const attempt = {
    attempt: 1,
    attemptId: "a1",
    startedAt: NOW,
    endedAt: null,
    durationMs: null,
    outcome: null,
    error: null,
    effect: null,
    endSeq: null,
  };
  expect(attemptsSeen([{ ...attempt, executor: "e" }], LIVE)).toMatchObject([{ outcome: null, error: null }]);
  expect(attemptsSeen([{ ...attempt, executor: "dead" }], LIVE)).toMatchObject([
    { outcome: "unknown", endedAt: null, error: { code: "EXECUTOR_LOST" } },
  ]);
});
