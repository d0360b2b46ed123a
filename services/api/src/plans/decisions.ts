import type { Resolution, StepRun } from "@planwright/engine";
import {
  isForEachStep,
  type JsonValue,
  JsonValueSchema,
  readDeclaredOutput,
  toolOfStep,
} from "@planwright/plan";
import type { PlanApproval, RequestDocument } from "@planwright/store";
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

/** Arguments of the mutation resolveInDoubt. */
export interface ResolutionInput {
  requestId: string;
  stepKey: string;
  resolution: "completed" | "failed" | "retry";
  /** Absent is different from null: null is an output. */
  output?: unknown;
  reason?: string | null;
  attempt?: number | null;
}

/**
 * Settles a call that may or may not have happened.
 * @throws {BadInputError | RequestNotFoundError | StepNotFoundError | StateConflictError}
 */
export async function resolveInDoubt(
  context: OperationContext,
  input: ResolutionInput,
): Promise<RequestDocument> {
  const key = parseStepKey(input.stepKey);
  const resolution = parseResolution(input, context.by);
  const attempt = parseAttempt(input.attempt);
  const request = await findRequest(context, input.requestId);
  if (resolution.type === "completed") await checkOutput(context, request, key, resolution.output);
  const decision = { key, resolution, by: context.by, attempt };
  const answer = await context.store.resolveUnit(context.tenant, request.planId, decision);
  const stepFacts = { requestId: request._id, stepId: key };
  switch (answer.type) {
    case "recorded":
      if (!answer.plan.finishedAt) context.offers.offerExecution(answer.plan);
      return request;
    case "not in doubt": {
      const { status } = answer.unit;
      throw new StateConflictError(
        { ...stepFacts, status },
        `${whyNotInDoubt(answer.unit, attempt)}: nothing was settled`,
        "Only a step that is IN_DOUBT can be settled, for its last attempt in request(requestId).",
      );
    }
    case "decided":
      throw new StateConflictError(
        { ...stepFacts, status: answer.unit.status },
        `The doubt about step '${key}' was already settled: nothing was changed`,
        "The first decision counts, and takes effect as soon as an executor is free; request(requestId) { plan { resolutions } } shows it.",
      );
    case "too large":
      throw new BadInputError(
        "output",
        "The output is larger than 32 KiB, or cannot be stored",
        "Give the part that later steps need.",
      );
    case "unknown":
      throw new StepNotFoundError(stepFacts);
  }
}

/**
 * Refuses an output that the tool does not declare: later steps would get it as if the tool had returned it.
 * Null is the output of a call whose result no step needs.
 * @throws {BadInputError}
 */
async function checkOutput(
  { store, knownTools, tenant }: OperationContext,
  { planId }: RequestDocument,
  key: string,
  output: JsonValue,
): Promise<void> {
  if (output === null) return;
  const [graph] = await store.readPlanGraphs(tenant, [planId]);
  const step = graph?.plan?.steps.find(({ id }) => id === key.replace(/\[\d+\]$/, ""));
  if (!step) return;
  // A list has the output of its items; each item is settled apart.
  if (isForEachStep(step) && key === step.id) return;
  const name = toolOfStep(step);
  const schema = await knownTools.ask(
    tenant,
    (tools) => tools.find((tool) => tool.name === name)?.outputSchema,
    (found) => found !== undefined,
  );
  const [difference] = readDeclaredOutput(schema, output).warnings;
  if (difference === undefined) return;
  throw new BadInputError(
    "output",
    `${name} does not return this output: ${difference.replace(/^OUTPUT_UNEXPECTED: /, "")}`,
    `Give what the call of ${name} returned, or null if no later step needs it.`,
  );
}

function whyNotInDoubt({ key, status, attempts }: StepRun, attempt: number | undefined): string {
  if (attempt !== undefined && attempt !== attempts.length) {
    return `Step '${key}' is ${status} after attempt ${attempts.length}, and attempt ${attempt} was named`;
  }
  return status === "IN_DOUBT"
    ? `Item '${key}' belongs to a list that has completed; it can be settled after the plan has ended`
    : `Step '${key}' is ${status}, and not in doubt`;
}

function parseAttempt(attempt: number | null | undefined): number | undefined {
  if (attempt === null || attempt === undefined) return undefined;
  if (attempt >= 1) return attempt;
  throw new BadInputError(
    "attempt",
    `There is no attempt ${attempt}`,
    "Attempts count from 1; leave it out for the attempt that is in doubt.",
  );
}

function parseResolution(input: ResolutionInput, by: string): Resolution {
  const reason = parseText("reason", input.reason);
  const hasOutput = input.output !== undefined;
  if (hasOutput && input.resolution !== "completed") {
    throw new BadInputError(
      "output",
      `${input.resolution} has no output`,
      "Leave output out, or use completed.",
    );
  }
  switch (input.resolution) {
    case "completed":
      if (!hasOutput) {
        throw new BadInputError(
          "output",
          "completed needs the output of the call",
          "Give output as JSON; null if no later step needs it.",
        );
      }
      checkJsonShape("output", input.output);
      checkFilledIn("output", input.output);
      requireFit("output", input.output);
      return { type: "completed", output: JsonValueSchema.parse(input.output) };
    case "failed":
      if (reason === null) {
        throw new BadInputError("reason", "failed needs a reason", "Say in reason why the call failed.");
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
