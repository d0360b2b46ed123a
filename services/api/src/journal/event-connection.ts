import type { RequestId } from "@planwright/plan";
import { eventCursor } from "@planwright/store";
import type { GraphqlContext } from "../graphql/context.ts";
import { type Connection, type PageArguments, parsePage, toConnection } from "../pages/connection.ts";
import { type EventView, toEventView } from "./event-view.ts";

/** One page of what happened to a request. @throws {BadInputError | CursorInvalidError} */
export async function readEventPage(
  requestId: RequestId,
  page: PageArguments,
  { reads }: Pick<GraphqlContext, "reads">,
): Promise<Connection<EventView>> {
  const { items, cursor } = await reads.eventPage(requestId, parsePage(page, "events"));
  return toConnection({ items: items.map(toEventView), cursor }, eventCursor);
}
