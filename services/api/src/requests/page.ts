import type { RequestStatus } from "@planwright/plan";
import { type ClientStore, type RequestDocument, toCursor } from "@planwright/store";
import { type FilterArgument, parseFilter } from "../arguments/parse-filter.ts";
import { type Connection, type PageArguments, parsePage, toConnection } from "../operation/connection.ts";

/** Arguments of the list. */
export interface RequestPageArguments extends PageArguments {
  status?: readonly RequestStatus[] | null;
  filter?: FilterArgument | null;
  orderBy?: RequestOrder;
}

/** Orders of the list. */
export type RequestOrder = "NEWEST_FIRST" | "OLDEST_FIRST";

/** One page. @throws {BadInputError | CursorInvalidError} */
export async function readRequestPage(
  store: ClientStore,
  tenant: string,
  { status, filter, orderBy, ...page }: RequestPageArguments,
): Promise<Connection<RequestDocument>> {
  const found = await store.listRequests(tenant, {
    ...parsePage(page, "requests"),
    filter: parseFilter(filter, status),
    order: orderBy === "OLDEST_FIRST" ? "oldest" : "newest",
  });
  return toConnection(found, ({ createdAt, _id: id }) => toCursor({ createdAt, id }));
}
