import type { RequestStatus } from "@planwright/plan";
import { type ClientStore, type RequestDocument, toCursor } from "@planwright/store";
import { BadInputError } from "../errors.ts";
import { type FilterArgument, parseFilter } from "./parse-filter.ts";

/** What a client asked of the list. */
export interface PageArguments {
  first: number;
  after?: string | null;
  status?: readonly RequestStatus[] | null;
  filter?: FilterArgument | null;
  orderBy?: RequestOrder;
}

/** Orders of the list. */
export type RequestOrder = "NEWEST_FIRST" | "OLDEST_FIRST";

/** A page in the form of a Relay connection. */
export interface RequestPage {
  edges: { cursor: string; node: RequestDocument }[];
  nodes: RequestDocument[];
  pageInfo: {
    hasNextPage: boolean;
    hasPreviousPage: boolean;
    startCursor: string | null;
    endCursor: string | null;
  };
}

const MAX_PAGE = 100;
const MAX_CURSOR_LENGTH = 200;

/** One page. @throws {BadInputError | CursorInvalidError} */
export async function readRequestPage(
  store: ClientStore,
  tenant: string,
  { first, after, status, filter, orderBy }: PageArguments,
): Promise<RequestPage> {
  if (first < 1 || first > MAX_PAGE) {
    throw new BadInputError("first", `A page of ${first} requests cannot be given`, "Ask for 1 to 100.");
  }
  if (after && after.length > MAX_CURSOR_LENGTH) {
    throw new BadInputError(
      "after",
      "Not a cursor that was given out",
      "Use pageInfo.endCursor, or leave it away.",
    );
  }
  const page = await store.listRequests(tenant, {
    first,
    after: after ?? undefined,
    filter: parseFilter(filter, status),
    order: orderBy === "OLDEST_FIRST" ? "oldest" : "newest",
  });
  const edges = page.items.map((node) => ({
    cursor: toCursor({ createdAt: node.createdAt, id: node._id }),
    node,
  }));
  return {
    edges,
    nodes: page.items,
    pageInfo: {
      hasNextPage: page.cursor !== null,
      hasPreviousPage: false,
      startCursor: edges[0]?.cursor ?? null,
      // Where more follow it may be beyond the last one: filters look at what they leave out.
      endCursor: page.cursor ?? edges.at(-1)?.cursor ?? null,
    },
  };
}
