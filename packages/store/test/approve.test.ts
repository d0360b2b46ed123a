import { type Plan, type PlanId, parsePlan } from "@planwright/plan";
import { createStore, type PlanClaim, type Store } from "@planwright/store";
import { findDue, listSteps, testServers } from "@planwright/testing";
import { afterAll, beforeAll, expect, test } from "vitest";

let store: Store;

beforeAll(async () => {
  store = await createStore({ url: testServers().mongodbUrl });
});
afterAll(async () => {
  await store.close();
});

const HASH = "a".repeat(64);
const decision = (more: object = {}) => ({
  stepId: "a",
  approved: true,
  approvalHash: HASH,
  reason: null,
  by: "operator",
  ...more,
});

function onePlan(): Plan {
  const parsed = parsePlan([{ id: "a", tool: "a", arguments: {}, approval: true }]);
  if (!parsed.ok) throw new TypeError(JSON.stringify(parsed.diagnostics));
  return parsed.plan;
}

async function claimed(): Promise<PlanClaim> {
  const { plan } = await store.submitPlan({
    tenant: "t1",
    query: null,
    plan: onePlan(),
    raw: "",
    diagnostics: [],
    autoExecute: true,
  });
  return (await store.claimPlan(plan._id, "e1"))!;
}

/** A plan whose step "a" waits for approval. */
async function waiting(args: { [name: string]: string } = { to: "Alice" }): Promise<PlanClaim> {
  const claim = await claimed();
  const record = {
    key: "a",
    stepId: "a",
    status: "WAITING_APPROVAL" as const,
    attempts: 0,
    waitReason: "approval" as const,
    arguments: args,
    approvalHash: HASH,
    argsHash: "b".repeat(64),
  };
  await store.writeRecords(claim, [record], []);
  return claim;
}

const approvalsOf = async (planId: PlanId) => (await store.getPlanHeads("t1", [planId]))[0]?.approvals ?? [];

test("a step that waits for approval shows its arguments, and its plan is due after an operator's decision", async () => {
  const claim = await waiting();
  const planId = claim.plan._id;
  await store.releasePlan(claim, { status: "WAITING", reason: "approval", dueAtMs: null });
  const [step] = await listSteps(store, "t1", [planId]);
  expect(step).toMatchObject({
    status: "WAITING_APPROVAL",
    arguments: { value: { to: "Alice" } },
    approvalHash: HASH,
    approved: false,
  });
  expect(await findDue(store.planLeases, 10)).not.toContain(planId);
  const answer = await store.approveStep("t1", planId, decision({ reason: "$5 is fine" }));
  expect(answer).toMatchObject({
    type: "recorded",
    by: "operator",
    plan: { controlSeq: expect.any(Number) },
  });
  await expect.poll(() => findDue(store.planLeases, 10)).toContain(planId);
  expect(await approvalsOf(planId)).toMatchObject([
    { stepId: "a", approvalHash: HASH, reason: "$5 is fine", at: expect.any(Date) },
  ]);
});

test("large arguments: their size and beginning are stored", async () => {
  const claim = await waiting({ text: "x".repeat(40_000) });
  const [step] = await listSteps(store, "t1", [claim.plan._id]);
  expect(step).toMatchObject({
    arguments: { sizeBytes: 40_011, preview: expect.any(String) },
    argsHash: "b".repeat(64),
    approvalHash: HASH,
  });
});

test("a decision on another hash is stale, and is not recorded", async () => {
  const { plan } = await waiting();
  const answer = await store.approveStep("t1", plan._id, decision({ approvalHash: "c".repeat(64) }));
  expect(answer).toMatchObject({ type: "stale", step: { approvalHash: HASH } });
  expect(await store.getPlan("t1", plan._id)).toMatchObject({ controlSeq: 0 });
});

test("the first of two decisions counts; a repeat of it is answered as recorded", async () => {
  const { plan } = await waiting();
  const decisions = [decision(), decision({ approved: false }), decision(), decision({ approved: false })];
  const answers = await Promise.all(decisions.map((one) => store.approveStep("t1", plan._id, one)));
  const approvals = await approvalsOf(plan._id);
  expect(approvals).toHaveLength(1);
  expect(answers.map(({ type }) => type)).toEqual(
    decisions.map(({ approved }) => (approved === approvals[0]!.approved ? "recorded" : "decided")),
  );
});

test("a step that does not wait, an unknown step and a step of another tenant cannot be approved", async () => {
  const { plan } = await claimed();
  expect(await store.approveStep("t1", plan._id, decision())).toMatchObject({ type: "not waiting" });
  expect(await store.approveStep("t1", plan._id, decision({ stepId: "b" }))).toEqual({ type: "unknown" });
  expect(await store.approveStep("t2", plan._id, decision())).toEqual({ type: "unknown" });
  const ended = await waiting();
  await store.finishPlan(ended, { type: "finish", status: "EXPIRED", outputs: {} });
  expect(await store.approveStep("t1", ended.plan._id, decision())).toMatchObject({ type: "not waiting" });
});
