import type { RequestStatus } from "@planwright/plan";
import { type RequestDocument, type RequestFilter, toCursor } from "@planwright/store";
import { type FilterArgument, parseFilter } from "../arguments/parse-filter.ts";
import { parseRequestId } from "../arguments/parse-ids.ts";
import { BadInputError } from "../errors/input-errors.ts";
import { MAX_PAGE, parsePage } from "../operation/connection.ts";
import type { OperationContext } from "../operation/context.ts";

/** Arguments of a bulk mutation that select requests. */
export interface SelectionInput {
  filter?: FilterArgument | null;
  /** Requests as an earlier answer listed them. */
  requests?: readonly SeenRequest[] | null;
  dryRun: boolean;
  /** Cursor after the last answer for the same filter. */
  after?: string | null;
}

/** A request, and the version of its plan that the client has seen. */
export interface SeenRequest {
  requestId: string;
  version: number;
}

/** A selected request; `request` is null for an unknown id. */
export interface SelectedRequest extends SeenRequest {
  request: RequestDocument | null;
}

/** The selected requests, and the cursor after them. */
export interface Selection {
  selected: SelectedRequest[];
  hasMore: boolean;
  endCursor: string | null;
}

/**
 * The requests that a bulk mutation selects: the first 100 that match a filter, or those that the client
 * names. Only a dry run takes a filter, so nothing is changed that the client has not seen.
 * @param can - statuses in which the change is possible, and its name for errors, such as "be cancelled"
 * @throws {BadInputError | CursorInvalidError}
 */
export async function selectRequests(
  context: OperationContext,
  { filter = null, requests = null, dryRun, after = null }: SelectionInput,
  can: { statuses: readonly RequestStatus[]; be: string },
): Promise<Selection> {
  if ((filter === null) === (requests === null)) {
    throw new BadInputError(
      "requests",
      "A bulk mutation needs exactly one of filter and requests",
      "Give filter with dryRun: true to see which requests match; then give requests, as results of the answer name them.",
    );
  }
  if (requests) return findSeen(context, requests);
  if (!dryRun) {
    throw new BadInputError(
      "filter",
      "With a filter nothing is changed: it may match other requests than those that the client has seen",
      "First call it with dryRun: true, then with dryRun: false and requests: the requestId and version of each result.",
    );
  }
  const { first, ...page } = parsePage({ first: MAX_PAGE, after }, "requests");
  const wanted = narrowed(parseFilter(filter, undefined), can);
  const found = await context.store.listRequests(context.tenant, { first, ...page, filter: wanted });
  const last = found.items.at(-1);
  return {
    selected: found.items.map((request) => ({ requestId: request._id, version: request.version, request })),
    hasMore: found.cursor !== null,
    endCursor: found.cursor ?? (last ? toCursor({ createdAt: last.createdAt, id: last._id }) : null),
  };
}

/** @throws {BadInputError} */
async function findSeen(
  { store, tenant }: OperationContext,
  requests: readonly SeenRequest[],
): Promise<Selection> {
  if (requests.length === 0 || requests.length > MAX_PAGE) {
    throw refused(`${requests.length} requests are given`, `Give 1 to ${MAX_PAGE} at once.`);
  }
  const seen = requests.map(({ requestId, version }) => ({ requestId: parseRequestId(requestId), version }));
  const odd = seen.find(({ version }) => version < 1);
  if (odd) {
    throw refused(
      `version of ${odd.requestId} is ${odd.version}, and versions count from 1`,
      "Give the version of the request as it was read.",
    );
  }
  const ids = seen.map(({ requestId }) => requestId);
  const twice = ids.find((id, index) => ids.indexOf(id) < index);
  if (twice) throw refused(`${twice} is given twice`, "Give each request once.");
  const found = await store.getRequests(tenant, ids);
  return {
    selected: seen.map((one, index) => ({ ...one, request: found[index] ?? null })),
    hasMore: false,
    endCursor: null,
  };
}

/**
 * The filter without statuses in which the change is not possible.
 * @throws {BadInputError} when none is left
 */
function narrowed(
  filter: RequestFilter,
  { statuses, be }: { statuses: readonly RequestStatus[]; be: string },
): RequestFilter {
  const wanted = filter.status ?? statuses;
  const status = wanted.filter((one) => statuses.includes(one));
  if (status.length > 0) return { ...filter, status };
  throw new BadInputError(
    "filter.status",
    `A request that is ${wanted.join(" or ")} cannot ${be}`,
    `Leave status out, or give some of ${statuses.join(", ")}.`,
  );
}

function refused(message: string, remedy: string): BadInputError {
  return new BadInputError("requests", message, remedy);
}
