/** The fields of the older API, which older clients use under their old names. */
import { setTimeout as sleep } from "node:timers/promises";
import type { StepRun } from "@planwright/engine";
import {
  argumentsOfStep,
  isTerminalPlanStatus,
  type JsonObject,
  type JsonValue,
  type Plan,
  type PlanId,
  planGraph,
  stringifyExactJson,
  toolOfStep,
  UNEXECUTED_REQUEST_STATUSES,
} from "@planwright/plan";
import type { PlanDocument, PlanGraph, PlanHead, RequestDocument } from "@planwright/store";
import { shortened } from "../arguments/text.ts";
import {
  BadInputError,
  PlanNotFoundError,
  PlanningTimeoutError,
  RequestNotFoundError,
} from "../errors/api-error.ts";
import type { GraphqlContext, OperationContext } from "../operation/context.ts";
import { toJson } from "../operation/reads.ts";
import { createPlan, type SentenceInput } from "../plans/create-plan.ts";
import { invalid, startPlan, throwIfNeverPlanned } from "../plans/execute-plan.ts";
import { findRequest } from "../plans/find-request.ts";
import { toolsOfSteps } from "../plans/step-views.ts";

/** Results of an execution for older clients, as JSON text. */
export interface ExecutionResults {
  results: string;
  outputs: string;
  errors: string[];
}

/** A step with its result. */
export type ExecutedStep = Pick<
  StepRun,
  "stepId" | "item" | "position" | "tool" | "status" | "error" | "durationMs"
> & {
  arguments: JsonObject | null;
  /** The output, or its reference. */
  output: JsonValue;
};

/** The fields of a plan that its results need. */
type ExecutedPlan = Pick<PlanHead, "status" | "error"> & Pick<PlanGraph, "plan">;

/** The results of a plan's steps for older clients, in plan order. Pure. */
export function executionResults(plan: ExecutedPlan, recorded: readonly ExecutedStep[]): ExecutionResults {
  const steps = recorded.filter((step) => step.item === null).toSorted((a, b) => a.position - b.position);
  return {
    results: stringifyExactJson(steps.map(toResult)),
    outputs: stringifyExactJson(Object.fromEntries(namedOutputs(plan, steps))),
    errors: errorTexts(plan, steps),
  };
}

function toResult(step: ExecutedStep) {
  return {
    stepId: step.stepId,
    toolName: step.tool,
    status: step.status,
    success: step.status === "COMPLETED",
    parameters: step.arguments,
    output: step.output ?? null,
    error: step.error?.message ?? null,
    durationMs: step.durationMs,
  };
}

/** Outputs by tool name; by step id for the steps of a tool that the plan uses more than once. */
function namedOutputs(plan: ExecutedPlan, steps: readonly ExecutedStep[]): [string, JsonValue][] {
  const uses = new Map<string, number>();
  for (const tool of toolsOfSteps(plan).values()) uses.set(tool, (uses.get(tool) ?? 0) + 1);
  return steps
    .filter((step) => step.status === "COMPLETED")
    .map((step) => [uses.get(step.tool) === 1 ? step.tool : step.stepId, step.output ?? null]);
}

/** One text for each step that failed or is in doubt; the error of the plan when there is none. */
function errorTexts(plan: ExecutedPlan, steps: readonly ExecutedStep[]): string[] {
  const failed = steps.filter((step) => step.status === "FAILED" || step.status === "IN_DOUBT");
  const texts = failed.map((step) => `${step.stepId}: ${step.error?.message ?? step.status}`);
  if (texts.length > 0) return texts;
  if (plan.error) return [plan.error.message];
  return plan.status === "CANCELLED" ? ["The plan was cancelled"] : [];
}

/** Each output occurs in two texts: results and outputs. */
const COPIES = 2;

/**
 * The results of a plan's steps for older clients; outputs that are too large are replaced by references.
 * @throws {AnswerTooLargeError | OverloadedError}
 */
export function readResults(planId: PlanId, context: ResultReads): Promise<ExecutionResults> {
  return context.reads.once(`results ${planId}`, () => makeResults(planId, context));
}

type ResultReads = Pick<GraphqlContext, "reads" | "bytes">;

async function makeResults(planId: PlanId, { reads, bytes }: ResultReads): Promise<ExecutionResults> {
  const [head, graph, all] = await Promise.all([
    reads.plan(planId),
    reads.graph(planId),
    reads.steps(planId),
  ]);
  const steps = all.filter(({ item }) => item === null);
  const executed = await Promise.all(
    steps.map(async (step) => {
      const [body, output] = await Promise.all([reads.withBody(step), reads.output(step, "results", COPIES)]);
      return { ...step, arguments: body.arguments?.value ?? null, output: toJson(output) };
    }),
  );
  const plan = {
    status: head?.status ?? "INVALID",
    error: head?.error ?? null,
    plan: graph?.plan ?? null,
  } as const;
  const make = () => executionResults(plan, executed);
  const results = bytes.isHeavy() ? await bytes.limits.pace(make) : make();
  await bytes.making(results.results.length + results.outputs.length);
  return results;
}

/** Most requests whose plans are returned at once. */
const MAX_REQUESTS = 100;

/**
 * Plans of the newest requests, all versions, the newest request and version first. Older clients do not use
 * pages.
 * @throws {BadInputError} for a number of requests outside 1 to 100
 */
export async function newestPlans(
  { store, tenant, reads }: Pick<GraphqlContext, "store" | "tenant" | "reads">,
  first: number,
): Promise<PlanHead[]> {
  if (first < 1 || first > MAX_REQUESTS) {
    throw new BadInputError("first", `Plans of ${first} requests are not allowed`, "Ask for 1 to 100.");
  }
  const { items } = await store.listRequests(tenant, { first });
  reads.prime(items);
  const plans = await Promise.all(items.map((request) => reads.plansOf(request)));
  return plans.flat();
}

/**
 * The plans whose execution was requested.
 * @throws {BadInputError} for a number of requests outside 1 to 100
 */
export async function newestExecutions(
  context: Pick<GraphqlContext, "store" | "tenant" | "reads">,
  first: number,
): Promise<PlanHead[]> {
  const plans = await newestPlans(context, first);
  return plans.filter(({ queuedAt }) => queuedAt !== null);
}

/** A step in the form of the older API: arguments as JSON text, one tool as its dependency. */
export interface SelectedTool {
  stepId: string;
  toolName: string;
  name: string;
  parameters: string;
  dependsOn: string | null;
}

/**
 * The steps of a plan for older clients, in plan order. They support one dependency for each tool: the last
 * one in the plan, which in a chain implies all others.
 */
export function selectedTools(plan: Plan | null): SelectedTool[] {
  if (!plan) return [];
  const { dependencies } = planGraph(plan);
  return plan.steps.map((step) => {
    const wanted = new Set(dependencies.get(step.id));
    const last = plan.steps.findLast(({ id }) => wanted.has(id));
    const toolName = toolOfStep(step);
    return {
      stepId: step.id,
      toolName,
      name: toolName,
      parameters: stringifyExactJson(argumentsOfStep(step)),
      dependsOn: last ? toolOfStep(last) : null,
    };
  });
}

/** Tools in an order in which their steps can run; steps of a cycle, which cannot, come last. */
export function toolOrder(plan: Plan | null): string[] {
  if (!plan) return [];
  const { order } = planGraph(plan);
  const toolOf = new Map(plan.steps.map((step) => [step.id, toolOfStep(step)]));
  const ordered = new Set([...order, ...toolOf.keys()]);
  return [...ordered].flatMap((id) => toolOf.get(id) ?? []);
}

/** Longest that a client waits for the end of its plan, in milliseconds. */
const EXECUTION_WAIT_MS = 30_000;

/**
 * Starts a request's plan unless it was started already, and returns it at its end, or its state after the
 * timeout. A request in PLANNING starts as soon as it has a plan.
 * @throws {BadInputError | RequestNotFoundError | PlanInvalidError | NeedsInputError | PlanningFailedError}
 * @throws {PlanningTimeoutError} when there is no plan by then
 * @throws {PlanNotFoundError} when the request ended without a plan
 */
export async function executeByRequestId(
  context: OperationContext,
  requestId: string,
  timeoutMs = EXECUTION_WAIT_MS,
): Promise<PlanDocument> {
  const { request, plan } = await poll(
    async () => {
      const found = await startedPlan(context, requestId);
      context.releaseSlot?.();
      return found;
    },
    (found) => (found.plan ? isTerminalPlanStatus(found.plan.status) : found.request.status !== "PLANNING"),
    { timeoutMs, signal: context.signal },
  );
  if (plan) return plan;
  const ids = { requestId: request._id, planId: request.planId };
  throw request.status === "PLANNING"
    ? new PlanningTimeoutError(ids, timeoutMs)
    : new PlanNotFoundError(ids.planId);
}

/** The request with its plan, which is started if necessary; null during planning. */
async function startedPlan(
  context: OperationContext,
  requestId: string,
): Promise<{ request: RequestDocument; plan: PlanDocument | null }> {
  const request = await findRequest(context, requestId);
  const isStarted = !UNEXECUTED_REQUEST_STATUSES.includes(request.status);
  const plan = isStarted ? await context.store.getPlan(context.tenant, request.planId) : null;
  // Not planned, INVALID, or READY although the request has another status: treated like a first call.
  const isRunning = plan !== null && plan.status !== "INVALID" && plan.status !== "READY";
  return { request, plan: isRunning ? plan : await startPlan(context, request) };
}

/** Longest that a client waits for its plan, in milliseconds. */
const PLANNING_WAIT_MS = 60_000;

/** Arguments of older clients with a sentence. */
export type OlderSentenceInput = Pick<
  SentenceInput,
  "query" | "context" | "profile" | "policy" | "idempotencyKey"
>;

/**
 * Plans a sentence and returns the plan when it is stored; starts nothing.
 * @throws {BadInputError | BadPolicyError | PlanningFailedError | PlanInvalidError | NeedsInputError |
 * PlanningTimeoutError}
 */
export async function createPlanWithRequestId(
  context: OperationContext,
  input: OlderSentenceInput,
  timeoutMs = PLANNING_WAIT_MS,
): Promise<PlanDocument> {
  const { store, tenant, signal } = context;
  const accepted = await createPlan(context, { ...input, execute: false });
  context.releaseSlot?.();
  const ids = { requestId: accepted._id, planId: accepted.planId };
  const request = await poll(
    () => store.getRequest(tenant, accepted._id),
    (found) => found?.status !== "PLANNING",
    { timeoutMs, signal },
  );
  if (!request) throw new RequestNotFoundError(accepted._id);
  if (request.status === "PLANNING") throw new PlanningTimeoutError(ids, timeoutMs);
  const plan = await store.getPlan(tenant, request.planId);
  if (plan && plan.status !== "INVALID") return plan;
  if (plan) throw invalid(request, plan);
  throwIfNeverPlanned(request);
  throw new PlanningTimeoutError(ids, timeoutMs);
}

/** Options of {@link poll}. */
interface PollOptions {
  /** Longest wait, in milliseconds. */
  timeoutMs: number;
  /** Ends the wait early: the client has disconnected, or the service stops. */
  signal?: AbortSignal | undefined;
}

const FIRST_DELAY_MS = 20;
const MAX_DELAY_MS = 200;
const GROWTH = 1.5;

/**
 * Reads until the value is final, with pauses that grow from 20 ms to 200 ms.
 * Returns the last value, final or not, after the timeout or when the signal is aborted.
 */
export async function poll<T>(
  read: () => Promise<T>,
  isFinal: (value: T) => boolean,
  { timeoutMs, signal }: PollOptions,
): Promise<T> {
  const endsAt = performance.now() + timeoutMs;
  let delayMs = FIRST_DELAY_MS;
  for (;;) {
    const value = await read();
    const leftMs = endsAt - performance.now();
    if (isFinal(value) || leftMs <= 0 || signal?.aborted) return value;
    await pause(Math.min(delayMs, leftMs), signal);
    delayMs = Math.min(delayMs * GROWTH, MAX_DELAY_MS);
  }
}

/** Resolves after the time, or as soon as the signal is aborted. */
async function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(milliseconds, undefined, signal ? { signal } : {});
  } catch (error) {
    if (!signal?.aborted) throw error;
  }
}

/**
 * Runs an operation of older clients. For them a malformed id is an unknown id, because they compare the text
 * of that error.
 * @throws {RequestNotFoundError} for a malformed id, and every error of the operation
 */
export async function malformedIsUnknown<T>(id: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    const isMalformed = error instanceof BadInputError && /^(request|plan)Id$/.test(error.facts.argument);
    if (!isMalformed) throw error;
    throw new RequestNotFoundError(shortened(id));
  }
}
