import type { StepRun } from "@planwright/engine";
import {
  argumentsOfStep,
  type JsonObject,
  type JsonValue,
  type Plan,
  type PlanId,
  planGraph,
  stringifyExactJson,
  toolOfStep,
} from "@planwright/plan";
import type { PlanGraph, PlanHead } from "@planwright/store";
import { BadInputError } from "../errors/api-error.ts";
import type { GraphqlContext } from "../operation/context.ts";
import { toJson } from "../operation/reads.ts";
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
