import { type FilterArgument, parseFilter } from "../arguments/parse-filter.ts";
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
    /** What was read for all who follow the request serves this answer too; earlier answers are forgotten. */
    resolve(snapshot: RequestSnapshot, _: unknown, context: GraphqlContext) {
      beginAnswer(context);
      context.reads.primeSnapshot(snapshot);
      return snapshot.request;
    },
  },
  requestsUpdated: {
    async subscribe(_: unknown, { filter }: { filter?: FilterArgument | null }, context: GraphqlContext) {
      return context.feeds.followList(context.tenant, parseFilter(filter, undefined));
    },
    /** As above: what was read for all who follow lists serves this answer too. */
    resolve(change: RequestChange, _: unknown, context: GraphqlContext) {
      beginAnswer(context);
      if (change.kind !== "CHANGED") return { requestId: null, ...change, request: null };
      const { kind, requestId, changed } = change;
      context.reads.primeState(changed);
      return { kind, requestId, request: changed.request };
    },
  },
};

/** Forgets what earlier answers of the subscription were made of. */
function beginAnswer(context: GraphqlContext): void {
  context.nowMs = Date.now();
  context.bytes = createAnswerBytes(context.bytes.limits, context);
  // A subscription has no answer that could refuse: later states replace this one.
  context.bytes.bePatient();
  context.reads = createReads(context.store, context.tenant, context.bytes);
}
