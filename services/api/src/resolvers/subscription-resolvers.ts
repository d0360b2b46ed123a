import { type FilterArgument, parseLiveFilter } from "../arguments/parse-filter.ts";
import type { RequestChange } from "../feeds/change-box.ts";
import type { RequestSnapshot } from "../feeds/request-feed.ts";
import { createAnswerBytes } from "../load/answer-bytes.ts";
import type { GraphqlContext } from "../operation/context.ts";
import { createReads } from "../operation/reads.ts";
import { findRequest } from "../requests/find-request.ts";
import { noteLogFacts } from "../telemetry/api-logger.ts";

/** Fields of Subscription. */
export const subscriptionResolvers = {
  requestUpdated: {
    async subscribe(_: unknown, { requestId }: { requestId: string }, context: GraphqlContext) {
      try {
        const request = await findRequest(context, requestId);
        return await context.feeds.follow(context.tenant, request._id);
      } catch (error) {
        noteLogFacts(error, context.operation.logFacts());
        throw error;
      }
    },
    /** Uses new reads for each result, which all followers of the request share. */
    resolve(snapshot: RequestSnapshot, _: unknown, context: GraphqlContext) {
      beginAnswer(context);
      context.reads.primeSnapshot(snapshot);
      return snapshot.request;
    },
  },
  requestsUpdated: {
    async subscribe(_: unknown, { filter }: { filter?: FilterArgument | null }, context: GraphqlContext) {
      return context.feeds.followList(context.tenant, parseLiveFilter(filter));
    },
    /** As above, for all followers of lists. */
    resolve(change: RequestChange, _: unknown, context: GraphqlContext) {
      beginAnswer(context);
      if (change.kind !== "CHANGED") return { requestId: null, ...change, request: null };
      const { kind, requestId, changed } = change;
      context.reads.primeState(changed);
      return { kind, requestId, request: changed.request };
    },
  },
};

/** Replaces the reads of the earlier result. */
function beginAnswer(context: GraphqlContext): void {
  context.nowMs = Date.now();
  context.bytes = createAnswerBytes(context.bytes.limits, context);
  // A result cannot be refused: later states replace it.
  context.bytes.waitWithoutTimeout();
  context.reads = createReads(context.store, context.tenant, context.bytes);
}
