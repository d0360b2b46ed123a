/**
 * The same change of many requests. Each request is decided separately, as by the mutation for one request: a
 * refusal concerns only that request.
 */
import type { RequestStatus } from "@planwright/plan";
import { redactText } from "@planwright/runtime";
import type { RequestDocument } from "@planwright/store";
import { type ApiError } from "../errors/api-error.ts";
import { knownError } from "../errors/known-error.ts";
import { RequestNotFoundError } from "../errors/not-found-errors.ts";
import type { OperationContext } from "../operation/context.ts";
import { type SelectedRequest, type SelectionInput, selectRequests } from "./select-requests.ts";

/** A change that can be made to many requests. */
export interface BulkAction {
  /** Statuses in which it is possible; a filter selects only requests in these. */
  statuses: readonly RequestStatus[];
  /** Its name for errors, such as "be cancelled". */
  be: string;
  /**
   * Changes one request, or, in a dry run, only finds out whether it would be refused.
   * @throws {ApiError} why it is refused
   */
  change(request: RequestDocument, seen: { version: number; dryRun: boolean }): Promise<RequestDocument>;
}

/** The result of the change of one request, or the expected result in a dry run. */
export interface BulkResult {
  requestId: string;
  /** Null for an unknown id, as status and query. */
  version: number | null;
  status: RequestStatus | null;
  query: string | null;
  changed: boolean;
  error: { code: string; message: string; remedy: string; retryable: boolean } | null;
}

/** The answer of a bulk mutation. */
export interface BulkAnswer {
  dryRun: boolean;
  count: number;
  changed: number;
  refused: number;
  /** Of the refused: requests with a failed call that acted or may have acted. */
  mayRepeat: number;
  hasMore: boolean;
  endCursor: string | null;
  results: BulkResult[];
}

/** Requests that are changed at once. */
const AT_ONCE = 10;

/**
 * Makes a change to each selected request.
 * @throws {BadInputError | CursorInvalidError} for an invalid selection
 * @throws an unexpected error of one request, after the others that were started with it have ended
 */
export async function changeRequests(
  context: OperationContext,
  input: SelectionInput,
  action: BulkAction,
): Promise<BulkAnswer> {
  const { selected, hasMore, endCursor } = await selectRequests(context, input, action);
  const results: BulkResult[] = [];
  for (let from = 0; from < selected.length; from += AT_ONCE) {
    const some = selected.slice(from, from + AT_ONCE);
    const ended = await Promise.allSettled(some.map((one) => changeOne(one, input.dryRun, action)));
    for (const one of ended) {
      if (one.status === "rejected") throw one.reason;
      results.push(one.value);
    }
  }
  const changed = results.filter((result) => result.changed).length;
  const mayRepeat = results.filter(({ error }) => error?.code === "REPEAT_NOT_ACCEPTED").length;
  const counts = { count: results.length, changed, refused: results.length - changed, mayRepeat };
  return { dryRun: input.dryRun, ...counts, hasMore, endCursor, results };
}

async function changeOne(
  { requestId, version, request }: SelectedRequest,
  dryRun: boolean,
  action: BulkAction,
): Promise<BulkResult> {
  if (!request) return resultOf(requestId, null, new RequestNotFoundError(requestId));
  try {
    const after = await action.change(request, { version, dryRun });
    return resultOf(requestId, dryRun ? request : after, null);
  } catch (error) {
    const known = knownError(error);
    if (!known) throw error;
    return resultOf(requestId, request, known);
  }
}

function resultOf(requestId: string, request: RequestDocument | null, error: ApiError | null): BulkResult {
  return {
    requestId,
    version: request?.version ?? null,
    status: request?.status ?? null,
    query: request?.query ?? null,
    changed: error === null,
    error: error && {
      code: error.code,
      message: redactText(error.message),
      remedy: error.remedy,
      retryable: error.retryable,
    },
  };
}
