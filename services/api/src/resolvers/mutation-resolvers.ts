import { ACTIVE_REQUEST_STATUSES } from "@planwright/plan";
import type { RequestDocument } from "@planwright/store";
import { parseWait, type WaitInput } from "../arguments/parse-options.ts";
import { OverloadedError } from "../errors/api-error.ts";
import type { WaitOptions } from "../feeds/rest-waits.ts";
import type { OperationTable } from "../graphql/operations.ts";
import type { GraphqlContext } from "../operation/context.ts";
import {
  type ReloadInput,
  reloadToolServer,
  type SuggestInput,
  suggestContracts,
} from "../operation/tool-view.ts";
import { type AmendInput, amendPlan } from "../plans/amend-plan.ts";
import { type AnswersInput, answerQuestions } from "../plans/answer-questions.ts";
import {
  type BulkRerunInput,
  cancelRequests,
  rerunRequests,
  resumeRequests,
  retryFailedRequests,
  type SelectionInput,
} from "../plans/bulk-mutations.ts";
import { createPlan, type SentenceInput } from "../plans/create-plan.ts";
import {
  type ApprovalInput,
  approve,
  type ResolutionInput,
  type ResolutionsInput,
  resolveInDoubt,
  resolveManyInDoubt,
} from "../plans/decisions.ts";
import { type ExecuteInput, executePlan } from "../plans/execute-plan.ts";
import { cancelRequest, pauseRequest, resumeRequest } from "../plans/pause.ts";
import { type ReplanInput, type RerunInput, replan, rerun } from "../plans/rerun.ts";
import { type SubmitInput, submitPlan } from "../plans/submit-plan.ts";
import {
  createPlanWithRequestId,
  executeByRequestId,
  malformedIsUnknown,
  type OlderSentenceInput,
} from "./older-mutations.ts";

type RequestIdOnly = { requestId: string };

/** Fields of Mutation. */
export const mutationResolvers = {
  createPlan: mutation((context, input: SentenceInput & WaitInput) =>
    acceptAndWait(context, input, () => createPlan(context, input)),
  ),
  submitPlan: mutation((context, input: SubmitInput & WaitInput) =>
    acceptAndWait(context, input, () => submitPlan(context, input)),
  ),
  executePlan: mutation((context, input: ExecuteInput) => executePlan(context, input)),
  cancel: mutation((context, { requestId }: RequestIdOnly) => cancelRequest(context, requestId)),
  answerQuestions: mutation((context, input: AnswersInput) => answerQuestions(context, input)),
  pause: mutation((context, { requestId }: RequestIdOnly) => pauseRequest(context, requestId)),
  resume: mutation((context, { requestId }: RequestIdOnly) => resumeRequest(context, requestId)),
  approve: mutation((context, input: ApprovalInput) => approve(context, input)),
  resolveInDoubt: mutation((context, input: ResolutionInput) => resolveInDoubt(context, input)),
  resolveManyInDoubt: mutation((context, input: ResolutionsInput) => resolveManyInDoubt(context, input)),
  rerun: mutation((context, input: RerunInput) => rerun(context, input)),
  amendPlan: mutation((context, input: AmendInput) => amendPlan(context, input)),
  cancelRequests: mutation((context, input: SelectionInput) => cancelRequests(context, input)),
  resumeRequests: mutation((context, input: SelectionInput) => resumeRequests(context, input)),
  rerunRequests: mutation((context, input: BulkRerunInput & { from?: string | null }) =>
    rerunRequests(context, input),
  ),
  retryFailedRequests: mutation((context, input: BulkRerunInput) => retryFailedRequests(context, input)),
  replan: mutation((context, input: ReplanInput) => replan(context, input)),
  reloadToolServer: mutation((context, input: ReloadInput) => reloadToolServer(context, input)),
  suggestContracts: mutation((context, input: SuggestInput) => suggestContracts(context, input)),
  createPlanWithRequestId: mutation((context, input: OlderSentenceInput) =>
    createPlanWithRequestId(context, input),
  ),
  createPlanWithWorkflow: mutation((context, input: OlderSentenceInput) =>
    createPlanWithRequestId(context, input),
  ),
  executeByRequestId: mutation((context, { requestId }: RequestIdOnly) =>
    malformedIsUnknown(requestId, () => executeByRequestId(context, requestId)),
  ),
} satisfies Record<keyof OperationTable["mutation"], unknown>;

/** Clears the reads of earlier fields in the same operation, so that the result is read again. */
function mutation<Arguments, Result>(
  run: (context: GraphqlContext, input: Arguments) => Promise<Result>,
): (_: unknown, input: Arguments, context: GraphqlContext) => Promise<Result> {
  return (_, input, context) => {
    context.reads.forget();
    return run(context, input);
  };
}

/**
 * Accepts a request and returns it when it has ended or waits for a person, or its state after waitMs. When
 * too many clients wait, the accepted request is returned at once.
 * @param accept - stores the request
 */
async function acceptAndWait(
  context: GraphqlContext,
  { idempotencyKey, ...input }: WaitInput & { idempotencyKey?: string | null },
  accept: () => Promise<RequestDocument>,
): Promise<RequestDocument> {
  const waitMs = parseWait(input);
  if (waitMs === 0) return accept();
  const isWatchOpen = context.feeds.listen();
  const request = await accept();
  // The request of a repeated key may have ended long ago. A new one was stored after the change stream was
  // open.
  const isNew = isWatchOpen && (idempotencyKey ?? null) === null;
  const isActive = ACTIVE_REQUEST_STATUSES.includes(request.status);
  return waitForEnd(context, request, {
    waitMs,
    acceptedPlanId: isNew && isActive ? request.planId : undefined,
  });
}

async function waitForEnd(
  context: GraphqlContext,
  request: RequestDocument,
  options: Pick<WaitOptions, "waitMs" | "acceptedPlanId">,
): Promise<RequestDocument> {
  context.releaseSlot?.();
  try {
    const { feeds, tenant, reads, signal } = context;
    const last = await feeds.untilAtRest(tenant, request._id, { ...options, signal });
    if (!last) return request;
    reads.primeState(last);
    return last.request;
  } catch (error) {
    if (error instanceof OverloadedError) return request;
    throw error;
  }
}
