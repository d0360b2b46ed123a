import type { Caller } from "../access/caller.ts";
import type { RequestFeeds } from "../live/request-feeds.ts";
import type { OperationParts } from "../parts.ts";
import type { Operation } from "../tracing/operation.ts";
import { createReads, type Reads } from "./reads.ts";

/** What every resolver gets, made anew for each HTTP request. */
export interface GraphqlContext extends OperationParts {
  /** Who asks. */
  caller: Caller;
  /** The requests that clients follow. */
  feeds: RequestFeeds;
  operation: Operation;
  /** Of a subscription: made anew for each of its answers. */
  reads: Reads;
  /** Unix milliseconds when the request came, or a subscription's event: one "now" for the whole answer. */
  nowMs: number;
}

/** The context of one HTTP request: bound to what its caller's credential says. */
export function createContext(
  parts: Omit<OperationParts, "tenant" | "by"> & Pick<GraphqlContext, "feeds" | "operation">,
  caller: Caller,
  nowMs: number,
): GraphqlContext {
  const { tenant, name: by } = caller;
  return { ...parts, caller, tenant, by, nowMs, reads: createReads(parts.store, tenant) };
}
