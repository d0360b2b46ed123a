import type { RequestId } from "@planwright/plan";
import { eventCursor } from "@planwright/store";
import { type Connection, type PageArguments, parsePage, toConnection } from "../operation/connection.ts";
import type { GraphqlContext } from "../operation/context.ts";
import { type EventView, toEventView } from "./event-view.ts";

/** One page of the events of a request. @throws {BadInputError | CursorInvalidError} */
export async function readEventPage(
  requestId: RequestId,
  page: PageArguments,
  { reads }: Pick<GraphqlContext, "reads">,
): Promise<Connection<EventView>> {
  const { items, cursor } = await reads.eventPage(requestId, parsePage(page, "events"));
  return toConnection({ items: items.map(toEventView), cursor }, eventCursor);
}
