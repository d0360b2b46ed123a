import { randomUUID } from "node:crypto";
import type { Call, Effect, StepError, StepRecord } from "@planwright/engine";
import {
  type Diagnostic,
  type JsonObject,
  type JsonValue,
  type PlanId,
  parsePlan,
  type RequestId,
  resolveOutputs,
  toolOfStep,
} from "@planwright/plan";
import { toFreeQuestions, toQuestions } from "@planwright/reading";
import type { ExecutionStore, PlanClaim, Store } from "@planwright/store";
import { eventually } from "@planwright/testing";
import { BLOG_PLAN, type RunningApi } from "./running-api.ts";

const NO_EVIDENCE = { raw: null, plan: null, diagnostics: [] as Diagnostic[] };
const OFFLINE = { kind: "offline", model: null } as const;

/** Acts as a planner: makes the plan of two steps, and fails a replan with REPLAN_UNCHANGED. */
export async function planAs(store: Store, requestId: RequestId, plan: unknown = BLOG_PLAN): Promise<void> {
  const claim = (await store.claimRequest(requestId, "test planner"))!;
  if (claim.request.planning.work === "replan") {
    const error = { code: "REPLAN_UNCHANGED", message: "The same again" };
    return store.failReplan(claim, { error, diagnostics: [] });
  }
  const parsed = parsePlan(plan, { tools: await store.toolCatalogue() });
  if (!parsed.ok) throw new TypeError(JSON.stringify(parsed.diagnostics));
  await store.recordModelCall({
    requestId,
    tenant: claim.request.tenant,
    purpose: "draft",
    model: "offline",
    messages: [{ role: "user", content: claim.request.query ?? "" }],
    answer: JSON.stringify(plan),
    finishReason: "stop",
    inputTokens: null,
    outputTokens: null,
    latencyMs: 1.5,
    costUsd: null,
    error: null,
  });
  await store.completePlanning(claim, { plan: parsed.plan, raw: "{}", origin: OFFLINE, diagnostics: [] });
}

/** Acts as a planner whose planning fails. */
export async function failPlanningAs(
  store: Store,
  requestId: RequestId,
  error: { code: string; message: string },
  diagnostics: Diagnostic[] = [],
): Promise<void> {
  const claim = (await store.claimRequest(requestId, "test planner"))!;
  const evidence = diagnostics.length > 0 ? { raw: "{}", plan: null, diagnostics } : NO_EVIDENCE;
  await store.failPlanning(claim, { error, origin: OFFLINE, ...evidence });
}

/**
 * Acts as a planner that keeps its draft and asks for the e-mail address of its author and the title of its
 * blog.
 */
export async function keepDraftAs(
  store: Store,
  requestId: RequestId,
  kind: "model" | "offline",
): Promise<void> {
  const claim = (await store.claimRequest(requestId, "test planner"))!;
  const steps = BLOG_PLAN.steps.map((step) => ({ ...step }));
  const gaps = [
    { stepId: "createAuthor", tool: "createAuthor", keys: ["email"] },
    { stepId: "createBlog", tool: "createBlog", keys: ["title"] },
  ];
  const questions = toQuestions(gaps, { tools: await store.toolCatalogue(), asked: 0 });
  const origin = { kind, model: kind === "model" ? "test:model" : null };
  const draft = { text: JSON.stringify({ steps }), origin, questionIds: questions.map(({ id }) => id) };
  await store.askQuestions(claim, { questions, draft });
}

/** Acts as a planner that asks questions. */
export async function askAs(store: Store, requestId: RequestId, questions: string[]): Promise<void> {
  const claim = (await store.claimRequest(requestId, "test planner"))!;
  await store.askQuestions(claim, { questions: toFreeQuestions(questions, 0), draft: null });
}

/** The result of one step. */
export type Played =
  | { arguments: JsonObject; output: JsonValue; warnings?: string[] }
  /** `effect`: what is known about the effect of the call. Default: none. `isUnsent`: it was not sent. */
  | { arguments: JsonObject; error: StepError; effect?: Effect; isUnsent?: true };

/** Writes one attempt of a step: intent, then result. */
export async function playStep(
  store: Store,
  claim: PlanClaim,
  stepId: string,
  played: Played,
  attempt = 1,
): Promise<void> {
  const status = claim.journal.unit(stepId)?.status;
  // A step that waited for a person starts from the beginning.
  if (status === "WAITING_APPROVAL" || status === "IN_DOUBT") {
    const again = { key: stepId, stepId, status: "PENDING" as const, attempts: attempt - 1 };
    await store.writeRecords(claim, [again], []);
  }
  const attemptId = randomUUID();
  const tool = toolOfStep(claim.plan.plan.steps.find(({ id }) => id === stepId)!);
  const call = {
    key: stepId,
    stepId,
    attempt,
    tool,
    arguments: played.arguments,
    effectClass: "U" as const,
    mayAct: true,
    timeoutMs: 1_000,
  };
  await store.writeIntents(claim, [{ call, attemptId, argsHash: "test" }]);
  const end = { key: stepId, attemptId, endedAtMs: store.now(), durationMs: 5 };
  if ("error" in played) {
    const { error, effect = "none", isUnsent } = played;
    const record = { key: stepId, stepId, status: "FAILED" as const, attempts: attempt, error };
    await store.writeRecords(claim, [record], [{ ...end, outcome: "failed", error, effect, isUnsent }]);
    return;
  }
  const record = {
    key: stepId,
    stepId,
    status: "COMPLETED" as const,
    attempts: attempt,
    output: played.output,
    warnings: played.warnings,
  };
  await store.writeRecords(claim, [record], [{ ...end, outcome: "completed", error: null }]);
}

/**
 * Writes new states of units as an executor that called them: the calls and their ends are written with
 * the results.
 */
export async function writeCalled(
  store: Pick<ExecutionStore, "noteIntents" | "writeRecords" | "now">,
  claim: PlanClaim,
  records: readonly StepRecord[],
): Promise<void> {
  const calls = records
    .filter(({ status }) => status === "COMPLETED" || status === "FAILED")
    .map(({ key, stepId, item, attempts }) => ({
      call: {
        key,
        stepId,
        ...(item !== undefined && { items: [item] }),
        attempt: attempts,
        tool: stepId,
        arguments: {},
        effectClass: "R" as const,
        mayAct: false,
        timeoutMs: 1_000,
      },
      attemptId: randomUUID(),
      argsHash: "test",
    }));
  const ends = calls.map(({ call: { key }, attemptId }) => {
    const error = records.find((record) => record.key === key)?.error ?? null;
    const outcome = error ? ("failed" as const) : ("completed" as const);
    return { key, attemptId, endedAtMs: store.now(), durationMs: 5, outcome, error };
  });
  // Items exist when their list is known.
  const items = records.flatMap((record) =>
    record.item === undefined
      ? []
      : [{ ...record, status: "PENDING" as const, attempts: 0, output: undefined, error: undefined }],
  );
  if (items.length > 0) await store.writeRecords(claim, items, []);
  store.noteIntents(claim, calls);
  await store.writeRecords(claim, records, ends);
}

export const AUTHOR = { _id: "a1", name: "Alice" };

/** A plan is due by the clock of MongoDB, which may be slightly behind the clock of this process. */
export async function claimOnceDue(store: Store, planId: PlanId): Promise<PlanClaim> {
  const giveUpAt = performance.now() + 5_000;
  for (;;) {
    const claim = await store.claimPlan(planId, "test executor");
    if (claim) return claim;
    if (performance.now() > giveUpAt) throw new TypeError(`The plan ${planId} cannot be claimed`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Acts as an executor that completes the plan of two steps. */
export async function executeAs(store: Store, planId: PlanId): Promise<void> {
  const claim = await claimOnceDue(store, planId);
  await playStep(store, claim, "createAuthor", { arguments: { name: "Alice" }, output: AUTHOR });
  const blog = { _id: "b1", authorId: "a1" };
  await playStep(store, claim, "createBlog", { arguments: { authorId: "a1" }, output: blog });
  const known = new Map<string, JsonValue>([
    ["createAuthor", AUTHOR],
    ["createBlog", blog],
  ]);
  const outputs = claim.plan.plan ? resolveOutputs(claim.plan.plan, known).outputs : {};
  await store.finishPlan(claim, { type: "finish", status: "COMPLETED", outputs });
}

export const APPROVAL_HASH = "5".repeat(64);

/** Acts as an executor whose first step needs approval, and that releases the plan. */
export async function askApprovalAs(store: Store, planId: PlanId): Promise<void> {
  const claim = await claimOnceDue(store, planId);
  const record = {
    key: "createAuthor",
    stepId: "createAuthor",
    status: "WAITING_APPROVAL" as const,
    attempts: 0,
    arguments: { name: "Alice" },
    approvalHash: APPROVAL_HASH,
  };
  await store.writeRecords(claim, [record], []);
  await store.releasePlan(claim, { status: "WAITING", reason: "approval", dueAtMs: null });
}

/** Acts as an executor whose first step is in doubt, and that releases the plan. */
export async function doubtAs(store: Store, planId: PlanId): Promise<void> {
  const claim = await claimInDoubt(store, planId);
  await store.releasePlan(claim, { status: "WAITING", reason: "in doubt", dueAtMs: null });
}

/** Acts as an executor that gets a cancel request while its first step is in doubt. */
export async function cancelInDoubtAs(store: Store, planId: PlanId): Promise<void> {
  const claim = await claimInDoubt(store, planId);
  const error = { code: "CANCELLED", message: "Cancelled by the client", retryable: false };
  const record = {
    key: "createBlog",
    stepId: "createBlog",
    status: "CANCELLED" as const,
    attempts: 0,
    error,
  };
  await store.writeRecords(claim, [record], []);
  await store.finishPlan(claim, { type: "finish", status: "CANCELLED", outputs: {}, error });
}

/** The first call of `createAuthor` of the blog plan. */
export const CREATE_AUTHOR: Call = {
  key: "createAuthor",
  stepId: "createAuthor",
  attempt: 1,
  tool: "createAuthor",
  arguments: { name: "Alice" },
  effectClass: "U",
  mayAct: true,
  timeoutMs: 1_000,
};

async function claimInDoubt(store: Store, planId: PlanId): Promise<PlanClaim> {
  const claim = await claimOnceDue(store, planId);
  await store.writeIntents(claim, [{ call: CREATE_AUTHOR, attemptId: randomUUID(), argsHash: "test" }]);
  const error = { code: "TOOL_CONNECTION_LOST", message: "The answer was lost", retryable: false };
  const record = {
    key: "createAuthor",
    stepId: "createAuthor",
    status: "IN_DOUBT" as const,
    attempts: 1,
    error,
  };
  await store.writeRecords(claim, [record], []);
  return claim;
}

/** Acts as an executor whose first step fails. */
export async function failAs(
  store: Store,
  planId: PlanId,
  status: "FAILED" | "PARTIAL" = "FAILED",
): Promise<void> {
  await failWith(store, planId, { effect: "none", status });
}

/** The same; its tool had changed, so nothing was sent. */
export async function failChangedAs(store: Store, planId: PlanId): Promise<void> {
  const error = { code: "TOOL_CHANGED", message: "createAuthor has changed", retryable: false };
  await failWith(store, planId, { effect: "none", status: "FAILED", error });
}

/** The same; the failed call may have acted. */
export async function failOpenAs(store: Store, planId: PlanId): Promise<void> {
  await failWith(store, planId, { effect: "possible", status: "FAILED" });
}

async function failWith(
  store: Store,
  planId: PlanId,
  {
    effect,
    status,
    error = { code: "TOOL_FAILED", message: "email alice@test.com is taken", retryable: false },
  }: { effect: Effect; status: "FAILED" | "PARTIAL"; error?: StepError },
): Promise<void> {
  const claim = await claimOnceDue(store, planId);
  await playStep(store, claim, "createAuthor", { arguments: { name: "Alice" }, error, effect });
  const skipped = {
    code: "DEPENDENCY_FAILED",
    message: "Skipped because dependency 'createAuthor' failed",
    retryable: false,
  };
  const record = {
    key: "createBlog",
    stepId: "createBlog",
    status: "SKIPPED" as const,
    attempts: 0,
    error: skipped,
  };
  await store.writeRecords(claim, [record], []);
  await store.finishPlan(claim, { type: "finish", status, outputs: {}, error });
}

/** The newest request with the query, as soon as one is accepted. */
export function acceptedRequest(store: Store, query: string): Promise<RequestId> {
  return eventually(async () => {
    const page = await store.listRequests("default", { first: 100 });
    return page.items.find((request) => request.query === query)?._id;
  });
}

/**
 * Acts as planner and executor for each offer, until it is stopped.
 * @param execute - acts as the executor for one plan
 */
export function playWorkers(
  { store, offered }: Pick<RunningApi, "store" | "offered">,
  execute: (planId: PlanId) => Promise<void>,
): { stop(): Promise<void> } {
  let hasEnded = false;
  async function work(): Promise<void> {
    while (!hasEnded) {
      const [queue, id] = offered.shift()?.split(" ") ?? [];
      if (queue === "planning" && id) await planAs(store, id);
      if (queue === "execution" && id) await execute(id);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
  const working = work();
  return {
    stop() {
      hasEnded = true;
      return working;
    },
  };
}
