import type { LiveWorkers } from "@planwright/store";
import type { Caller } from "../access/caller.ts";
import type { RequestFeeds } from "../feeds/request-feeds.ts";
import { type AnswerBytes, type AnswerLimits, createAnswerBytes } from "../load/answer-bytes.ts";
import type { OperationParts } from "../parts.ts";
import type { Here } from "../plans/wait-reason.ts";
import type { Operation } from "../telemetry/operation.ts";
import { createReads, type Reads } from "./reads.ts";

/** What every resolver gets, made anew for each HTTP request. */
export interface GraphqlContext extends OperationParts {
  /** Who asks. */
  caller: Caller;
  /** The requests that clients follow. */
  feeds: RequestFeeds;
  operation: Operation;
  /** Measures the answer. Of a subscription: made anew for each of its answers, as `reads` is. */
  bytes: AnswerBytes;
  reads: Reads;
  /** Unix milliseconds when the request came, or a subscription's event: one "now" for the whole answer. */
  nowMs: number;
  /** What wait reasons rest on. */
  here: () => Promise<Here>;
}

/** The context of one HTTP request: bound to what its caller's credential says. */
export function createContext(
  parts: Omit<OperationParts, "tenant" | "by"> &
    Pick<GraphqlContext, "feeds" | "operation"> & {
      liveWorkers: () => Promise<LiveWorkers>;
      answers: AnswerLimits;
    },
  caller: Caller,
  nowMs: number,
): GraphqlContext {
  const { tenant, name: by } = caller;
  const { answers, ...rest } = parts;
  const bytes = createAnswerBytes(answers, { tenant, signal: parts.signal });
  const context: GraphqlContext = {
    ...rest,
    bytes,
    caller,
    tenant,
    by,
    nowMs,
    reads: createReads(parts.store, tenant, bytes),
    here: async () => ({ live: await parts.liveWorkers() }),
  };
  return context;
}
