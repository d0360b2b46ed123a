import type { Call, FoldedUnit } from "@planwright/engine";
import { PlanSchema, type ToolDescriptor } from "@planwright/plan";
import { newPlan, newRequest } from "@planwright/store";
import { expect, test } from "vitest";
import { createApprovals } from "./approvals.ts";
import { createPlanTools } from "./plan-tools.ts";

const TOOL: ToolDescriptor = {
  name: "pay",
  server: "bank",
  description: "Pays.",
  inputSchema: { type: "object" },
};
const EPOCH = new Date(0);

/** The recorded approval of step "a". */
type RecordedApproval = Partial<Pick<FoldedUnit, "approved" | "approvalHash">>;

/** A claim on a plan with one step "a", with the fields that approvals read. */
function claimOf(step: RecordedApproval, planId = "plan_1700000000_aaaaaaaaaaaaaaaaaaaa") {
  const request = newRequest({
    requestId: "req_1700000000_aaaaaaaaaaaaaaaaaaaa",
    planId,
    tenant: "t1",
    source: "plan",
    query: null,
    autoExecute: true,
    now: EPOCH,
  });
  const plan = PlanSchema.parse({ steps: [{ id: "a", tool: "pay" }] });
  const document = newPlan({
    request,
    plan,
    raw: null,
    origin: { kind: "submitted", model: null },
    diagnostics: [],
    status: "QUEUED",
    now: EPOCH,
  });
  const unit = { approved: false, approvalHash: null, ...step };
  return { plan: { ...document, plan }, journal: { unit: () => unit } };
}

const ARGUMENTS = { to: "Alice", amount: 7 };
const callOf = (more: Partial<Call> = {}): Call => ({
  key: "a",
  stepId: "a",
  attempt: 1,
  tool: "pay",
  arguments: ARGUMENTS,
  approvable: ARGUMENTS,
  effectClass: "U",
  mayAct: true,
  timeoutMs: 1_000,
  ...more,
});

function hashOf(args: Call["arguments"], tool: ToolDescriptor = TOOL): string {
  const claim = claimOf({});
  const planTools = createPlanTools(claim, [tool]);
  const approvals = createApprovals({ claim, planTools, readCatalogueNow: async () => [tool] });
  const record = { key: "a", stepId: "a", status: "WAITING_APPROVAL" as const, attempts: 0, arguments: args };
  return approvals.toUnitRecord(record).approvalHash ?? "";
}

function refusalOf(call: Call, step: RecordedApproval, tools = [TOOL]) {
  const claim = claimOf(step);
  const planTools = createPlanTools(claim, [TOOL]);
  return createApprovals({ claim, planTools, readCatalogueNow: async () => tools }).refusalOf(call);
}

test("a call that equals the approved one is made; the order of argument names does not matter", async () => {
  const approved = { approved: true, approvalHash: hashOf({ amount: 7, to: "Alice" }) };
  expect(await refusalOf(callOf(), approved)).toBeNull();
  expect(approved.approvalHash).toMatch(/^[0-9a-f]{64}$/);
});

test.each<[string, Call, ToolDescriptor[]]>([
  [
    "other arguments",
    callOf({ arguments: { ...ARGUMENTS, amount: 8 }, approvable: { ...ARGUMENTS, amount: 8 } }),
    [TOOL],
  ],
  ["arguments other than the approved ones", callOf({ arguments: { ...ARGUMENTS, amount: 8 } }), [TOOL]],
  ["a tool with another description", callOf(), [{ ...TOOL, description: "Pays twice." }]],
  ["a tool with another schema", callOf(), [{ ...TOOL, inputSchema: {} }]],
  ["a tool that no longer exists", callOf(), []],
])("a call with %s is refused", async (_, call, tools) => {
  const refusal = await refusalOf(call, { approved: true, approvalHash: hashOf(ARGUMENTS) }, tools);
  expect(refusal).toMatchObject({ code: "APPROVAL_STALE", retryable: false });
  expect(refusal?.message).toContain("Rerun the plan");
});

test("a call that no operator approved is refused", async () => {
  expect(await refusalOf(callOf(), { approved: false, approvalHash: hashOf(ARGUMENTS) })).not.toBeNull();
  expect(await refusalOf(callOf(), { approved: true, approvalHash: null })).not.toBeNull();
});

test("an approval of one plan does not apply to another plan", async () => {
  const claim = claimOf(
    { approved: true, approvalHash: hashOf(ARGUMENTS) },
    "plan_1700000000_bbbbbbbbbbbbbbbbbbbb",
  );
  const planTools = createPlanTools(claim, [TOOL]);
  const approvals = createApprovals({ claim, planTools, readCatalogueNow: async () => [TOOL] });
  expect(await approvals.refusalOf(callOf())).not.toBeNull();
});

test("each call of a forEach is compared with its part of the approved arguments", async () => {
  const approvable = { calls: { "a[0]": { x: 1 }, "a[1]": { x: 2 } } };
  const step = { approved: true, approvalHash: hashOf(approvable) };
  const call = callOf({ key: "a[1]", items: [1], arguments: { x: 2 }, approvable });
  expect(await refusalOf(call, step)).toBeNull();
  expect(await refusalOf({ ...call, arguments: { x: 3 } }, step)).not.toBeNull();
  expect(await refusalOf({ ...call, key: "a[2]" }, step)).not.toBeNull();
});

test("a call that needs no approval is not checked", async () => {
  expect(await refusalOf(callOf({ approvable: undefined }), {}, [])).toBeNull();
});
