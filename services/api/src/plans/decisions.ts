import type { Resolution, StepRun } from "@planwright/engine";
import { isForEachStep, JsonValueSchema, readDeclaredOutput, toolOfStep } from "@planwright/plan";
import type { PlanApproval, RequestDocument, UnitDecision } from "@planwright/store";
import { checkFilledIn, checkJsonShape, requireFit } from "../arguments/json-patch.ts";
import { parseStepId, parseStepKey, parseText } from "../arguments/text.ts";
import {
  ApprovalStaleError,
  BadInputError,
  type ConflictFacts,
  StateConflictError,
  StepNotFoundError,
} from "../errors/api-error.ts";
import type { OperationContext } from "../operation/context.ts";
import { findRequest } from "./find-request.ts";

/** What an operator says about one call in doubt. */
interface DecisionInput {
  stepKey: string;
  resolution: "completed" | "failed" | "retry";
  /** Absent is different from null: null is an output. */
  output?: unknown;
  reason?: string | null;
  attempt?: number | null;
}

/** Arguments of the mutation resolveInDoubt. */
export interface ResolutionInput extends DecisionInput {
  requestId: string;
}

/** Arguments of the mutation resolveManyInDoubt. */
export interface ResolutionsInput {
  requestId: string;
  decisions: readonly DecisionInput[];
}

/** Most decisions in one call: a plan takes 100 controls before its executor reads them. */
const MAX_DECISIONS = 50;

/**
 * Settles a call that may or may not have happened.
 * @throws {BadInputError | RequestNotFoundError | StepNotFoundError | StateConflictError}
 */
export function resolveInDoubt(
  context: OperationContext,
  { requestId, ...decision }: ResolutionInput,
): Promise<RequestDocument> {
  return resolveAll(context, requestId, [{ ...parseDecision(context, decision), argument: "" }]);
}

/**
 * Settles several calls that may or may not have happened, all of them or none.
 * @throws {BadInputError | RequestNotFoundError | StepNotFoundError | StateConflictError}
 */
export function resolveManyInDoubt(
  context: OperationContext,
  { requestId, decisions }: ResolutionsInput,
): Promise<RequestDocument> {
  if (decisions.length === 0 || decisions.length > MAX_DECISIONS) {
    throw new BadInputError(
      "decisions",
      `There are ${decisions.length} decisions`,
      `Give 1 to ${MAX_DECISIONS}, and the others in further calls.`,
    );
  }
  const keys = new Set<string>();
  const parsed = decisions.map((decision, index) => {
    const argument = `decisions[${index}].`;
    const one = parseDecision(context, decision, argument);
    if (keys.has(one.key)) {
      throw new BadInputError(
        `${argument}stepKey`,
        `There are two decisions about '${one.key}'`,
        "Give one for each call.",
      );
    }
    keys.add(one.key);
    return { ...one, argument };
  });
  return resolveAll(context, requestId, parsed);
}

interface ParsedDecision extends UnitDecision {
  /** Where it stands in the arguments, for errors. */
  argument: string;
}

async function resolveAll(
  context: OperationContext,
  requestId: string,
  decisions: readonly ParsedDecision[],
): Promise<RequestDocument> {
  const request = await findRequest(context, requestId);
  await checkOutputs(context, request, decisions);
  const asked = {
    by: context.by,
    decisions: decisions.map((given) => {
      const { argument: _, ...decision } = given;
      return decision;
    }),
  };
  const answer = await context.store.resolveUnits(context.tenant, request.planId, asked);
  switch (answer.type) {
    case "recorded":
      if (!answer.plan.finishedAt) context.offers.offerExecution(answer.plan);
      return request;
    case "not in doubt": {
      const { key, status } = answer.unit;
      throw new StateConflictError(
        { requestId: request._id, stepId: key, status },
        `${whyNotInDoubt(answer.unit, answer.attempt)}: nothing was settled`,
        "Only a step that is IN_DOUBT can be settled, for its last attempt in request(requestId).",
      );
    }
    case "decided": {
      const { key, status } = answer.unit;
      throw new StateConflictError(
        { requestId: request._id, stepId: key, status },
        `The doubt about step '${key}' was already settled: nothing was changed`,
        "The first decision counts, and takes effect as soon as an executor is free; request(requestId) { plan { resolutions } } shows it.",
      );
    }
    case "too large": {
      const { argument = "" } = decisions.find(({ key }) => key === answer.key) ?? {};
      throw new BadInputError(
        `${argument}output`,
        "The output is larger than 32 KiB, or cannot be stored",
        "Give the part that later steps need.",
      );
    }
    case "unknown":
      throw new StepNotFoundError({ requestId: request._id, stepId: answer.key ?? decisions[0]?.key ?? "" });
  }
}

/**
 * Refuses outputs that their tools do not declare: later steps would get them as if the tool had returned them.
 * Null is the output of a call whose result no step needs.
 * @throws {BadInputError}
 */
async function checkOutputs(
  { store, knownTools, tenant }: OperationContext,
  { planId }: RequestDocument,
  decisions: readonly ParsedDecision[],
): Promise<void> {
  const given = decisions.flatMap(({ key, argument, resolution }) =>
    resolution.type === "completed" && resolution.output !== null
      ? [{ key, argument, output: resolution.output }]
      : [],
  );
  if (given.length === 0) return;
  const [graph] = await store.readPlanGraphs(tenant, [planId]);
  for (const { key, argument, output } of given) {
    const step = graph?.plan?.steps.find(({ id }) => id === key.replace(/\[\d+\]$/, ""));
    // A list has the output of its items; each item is settled apart.
    if (!step || (isForEachStep(step) && key === step.id)) continue;
    const name = toolOfStep(step);
    const schema = await knownTools.ask(
      tenant,
      (tools) => tools.find((tool) => tool.name === name)?.outputSchema,
      (found) => found !== undefined,
    );
    const [difference] = readDeclaredOutput(schema, output).warnings;
    if (difference === undefined) continue;
    throw new BadInputError(
      `${argument}output`,
      `${name} does not return this output: ${difference.replace(/^OUTPUT_UNEXPECTED: /, "")}`,
      `Give what the call of ${name} returned, or null if no later step needs it.`,
    );
  }
}

function whyNotInDoubt({ key, status, attempts }: StepRun, attempt: number | undefined): string {
  if (attempt !== undefined && attempt !== attempts.length) {
    return `Step '${key}' is ${status} after attempt ${attempts.length}, and attempt ${attempt} was named`;
  }
  return status === "IN_DOUBT"
    ? `Item '${key}' belongs to a list that has completed; it can be settled after the plan has ended`
    : `Step '${key}' is ${status}, and not in doubt`;
}

function parseDecision({ by }: OperationContext, input: DecisionInput, argument = ""): UnitDecision {
  return {
    key: parseStepKey(input.stepKey),
    resolution: parseResolution(input, by, argument),
    attempt: parseAttempt(input.attempt, argument),
  };
}

function parseAttempt(attempt: number | null | undefined, argument: string): number | undefined {
  if (attempt === null || attempt === undefined) return undefined;
  if (attempt >= 1) return attempt;
  throw new BadInputError(
    `${argument}attempt`,
    `There is no attempt ${attempt}`,
    "Attempts count from 1; leave it out for the attempt that is in doubt.",
  );
}

function parseResolution(input: DecisionInput, by: string, argument: string): Resolution {
  const outputArgument = `${argument}output`;
  const reason = parseText(`${argument}reason`, input.reason);
  const hasOutput = input.output !== undefined;
  if (hasOutput && input.resolution !== "completed") {
    throw new BadInputError(
      outputArgument,
      `${input.resolution} has no output`,
      "Leave output out, or use completed.",
    );
  }
  switch (input.resolution) {
    case "completed":
      if (!hasOutput) {
        throw new BadInputError(
          outputArgument,
          "completed needs the output of the call",
          "Give output as JSON; null if no later step needs it.",
        );
      }
      checkJsonShape(outputArgument, input.output);
      checkFilledIn(outputArgument, input.output);
      requireFit(outputArgument, input.output);
      return { type: "completed", output: JsonValueSchema.parse(input.output) };
    case "failed":
      if (reason === null) {
        throw new BadInputError(
          `${argument}reason`,
          "failed needs a reason",
          "Say in reason why the call failed.",
        );
      }
      return {
        type: "failed",
        error: {
          code: "SETTLED_AS_FAILED",
          message: `An operator (${by}) said that the call failed: ${reason}`,
          retryable: false,
        },
      };
    case "retry":
      return { type: "retry" };
  }
}

/** Arguments of the mutation approve. */
export interface ApprovalInput {
  requestId: string;
  stepId: string;
  approvalHash: string;
  approved: boolean;
  reason?: string | null;
}

/**
 * Approves or refuses the call of a step, which is identified by its hash. The same caller may repeat its
 * decision, for example after a lost answer.
 * @throws {BadInputError | RequestNotFoundError | StepNotFoundError | ApprovalStaleError |
 * StateConflictError}
 */
export async function approve(context: OperationContext, input: ApprovalInput): Promise<RequestDocument> {
  const { approved } = input;
  const stepId = parseStepId(input.stepId);
  const approvalHash = parseHash(input.approvalHash);
  const reason = parseText("reason", input.reason);
  const request = await findRequest(context, input.requestId);
  const decision: Omit<PlanApproval, "at"> = { stepId, approved, approvalHash, reason, by: context.by };
  const answer = await context.store.approveStep(context.tenant, request.planId, decision);
  const stepFacts = { requestId: request._id, stepId };
  switch (answer.type) {
    case "recorded": {
      if (answer.by !== context.by)
        throw decided(
          { ...stepFacts, status: answer.plan.status },
          `${nameOf({ approved })} by ${answer.by}`,
        );
      context.offers.offerExecution(answer.plan);
      return request;
    }
    case "stale":
      throw new ApprovalStaleError({ ...stepFacts, approvalHash: answer.step.approvalHash });
    case "decided":
      throw decided({ ...stepFacts, status: answer.step.status }, nameOf({ approved: !approved }));
    case "expired":
      throw new StateConflictError(
        { ...stepFacts, status: answer.step.status },
        `The time for the approval of step '${stepId}' was over at ${answer.step.expiresAt?.toISOString()}: nothing was changed`,
        "It fails with APPROVAL_EXPIRED. After the plan has ended, rerun(requestId, from) asks for approval of this step again.",
      );
    case "not waiting":
      throw new StateConflictError(
        { ...stepFacts, status: answer.step.status },
        `Step '${stepId}' does not wait for approval, it is ${answer.step.status}: nothing was changed`,
        "Only steps whose status is WAITING_APPROVAL can be approved or refused.",
      );
    case "unknown":
      throw new StepNotFoundError(stepFacts);
  }
}

const nameOf = ({ approved }: { approved: boolean }): string => (approved ? "approved" : "refused");

function decided(facts: ConflictFacts & { stepId: string }, how: string): StateConflictError {
  return new StateConflictError(
    facts,
    `Step '${facts.stepId}' was already ${how}: nothing was changed`,
    "The first decision counts. After the plan has ended, rerun(requestId, from) asks for approval of this step again.",
  );
}

function parseHash(text: string): string {
  if (/^[0-9a-f]{64}$/.test(text)) return text;
  throw new BadInputError(
    "approvalHash",
    "Not an approvalHash",
    "Give the approvalHash of the step from request(requestId).",
  );
}
