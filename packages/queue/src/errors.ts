import { CodedError } from "@planwright/plan";

/** Redis may throw keys away when memory runs out, and jobs with them. Workers do not start on such a server. */
export class RedisEvictsError extends CodedError<{ policy: string }> {
  readonly code = "REDIS_EVICTS";
  readonly retryable = false;
  constructor(policy: string) {
    super(
      `Redis has maxmemory-policy "${policy}"; the queue needs "noeviction". Start Redis with --maxmemory-policy noeviction, or run: redis-cli config set maxmemory-policy noeviction`,
      { policy },
    );
  }
}

/** A hint was given up: too many wait for a Redis that does not answer. The sweeper finds the work. */
export class OfferDroppedError extends CodedError<{ queue: string; pending: number }> {
  readonly code = "OFFER_DROPPED";
  readonly retryable = true;
  constructor(facts: { queue: string; pending: number }) {
    super(`A hint for the ${facts.queue} queue was dropped: ${facts.pending} wait for Redis already`, facts);
  }
}
