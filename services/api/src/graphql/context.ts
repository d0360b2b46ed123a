import type { RequestFeeds } from "../live/request-feeds.ts";
import type { OperationParts } from "../parts.ts";
import { createReads, type Reads } from "./reads.ts";

/** What every resolver gets, made anew for each HTTP request. */
export interface GraphqlContext extends OperationParts {
  /** The requests that clients follow. */
  feeds: RequestFeeds;
  /** Of a subscription: made anew for each of its answers. */
  reads: Reads;
  /** Unix milliseconds when the request came, or a subscription's event: one "now" for the whole answer. */
  nowMs: number;
}

/** The context of one HTTP request. */
export function createContext(
  parts: OperationParts & { feeds: RequestFeeds },
  nowMs: number,
): GraphqlContext {
  return { ...parts, nowMs, reads: createReads(parts.store, parts.tenant) };
}
