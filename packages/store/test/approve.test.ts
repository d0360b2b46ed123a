import { type Plan, type PlanId, parsePlan } from "@planwright/plan";
import { createStore, type PlanClaim, type Store } from "@planwright/store";
import { testServers } from "@planwright/testing";
import { afterAll, beforeAll, expect, test } from "vitest";

let store: Store;

beforeAll(async () => {
  store = await createStore({ url: testServers().mongodbUrl });
});
afterAll(async () => {
  await store.close();
});

const HASH = "a".repeat(64);
const word = (more: object = {}) => ({
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

/** A plan whose step "a" asks for approval. */
async function asking(args: { [name: string]: string } = { to: "Alice" }): Promise<PlanClaim> {
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

test("a step that waits for approval shows what is asked for, and its plan is due when an operator has spoken", async () => {
  const claim = await asking();
  const planId = claim.plan._id;
  await store.releasePlan(claim, { status: "WAITING", reason: "approval", dueAtMs: null });
  const [step] = await store.listSteps("t1", [planId]);
  expect(step).toMatchObject({
    status: "WAITING_APPROVAL",
    arguments: { to: "Alice" },
    approvalHash: HASH,
    approved: false,
  });
  expect(await store.planLeases.findDue(10)).not.toContain(planId);
  const said = await store.approveStep("t1", planId, word({ reason: "$5 is fine" }));
  expect(said).toMatchObject({
    type: "recorded",
    by: "operator",
    plan: { controlSeq: expect.any(Number) },
  });
  await expect.poll(() => store.planLeases.findDue(10)).toContain(planId);
  expect(await approvalsOf(planId)).toMatchObject([
    { stepId: "a", approvalHash: HASH, reason: "$5 is fine", at: expect.any(Date) },
  ]);
});

test("of large arguments size and beginning are kept", async () => {
  const claim = await asking({ text: "x".repeat(40_000) });
  const [step] = await store.listSteps("t1", [claim.plan._id]);
  expect(step).toMatchObject({
    arguments: null,
    argumentsPreview: { sizeBytes: 40_011 },
    argsHash: "b".repeat(64),
    approvalHash: HASH,
  });
});

test("a word on another hash is stale, and is not recorded", async () => {
  const { plan } = await asking();
  const said = await store.approveStep("t1", plan._id, word({ approvalHash: "c".repeat(64) }));
  expect(said).toMatchObject({ type: "stale", step: { approvalHash: HASH } });
  expect(await store.getPlan("t1", plan._id)).toMatchObject({ controlSeq: 0 });
});

test("the first of two words counts; the same word again is taken as said", async () => {
  const { plan } = await asking();
  const words = [word(), word({ approved: false }), word(), word({ approved: false })];
  const said = await Promise.all(words.map((one) => store.approveStep("t1", plan._id, one)));
  const approvals = await approvalsOf(plan._id);
  expect(approvals).toHaveLength(1);
  expect(said.map(({ type }) => type)).toEqual(
    words.map(({ approved }) => (approved === approvals[0]!.approved ? "recorded" : "decided")),
  );
});

test("no caller can approve what does not ask, what is unknown, or what belongs to others", async () => {
  const { plan } = await claimed();
  expect(await store.approveStep("t1", plan._id, word())).toMatchObject({ type: "not waiting" });
  expect(await store.approveStep("t1", plan._id, word({ stepId: "b" }))).toEqual({ type: "unknown" });
  expect(await store.approveStep("t2", plan._id, word())).toEqual({ type: "unknown" });
  const over = await asking();
  await store.finishPlan(over, { type: "finish", status: "EXPIRED", outputs: {} });
  expect(await store.approveStep("t1", over.plan._id, word())).toMatchObject({ type: "not waiting" });
});
