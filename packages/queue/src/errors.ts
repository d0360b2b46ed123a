import { CodedError } from "@planwright/plan";

/** Redis would throw jobs away when its memory is full. */
export class RedisEvictsError extends CodedError<{ policy: string }> {
  readonly code = "REDIS_EVICTS";
  readonly retryable = false;
  constructor(facts: { policy: string }) {
    super(
      `Redis runs with maxmemory-policy ${facts.policy}; the queues need noeviction (redis-cli config set maxmemory-policy noeviction)`,
      facts,
    );
  }
}

/** A job was not taken by Redis. The sweeper finds what it spoke of. */
export class OfferFailedError extends CodedError<{ queue: string; id: string }> {
  readonly code = "OFFER_FAILED";
  readonly retryable = true;
  constructor(facts: { queue: string; id: string }, cause: unknown) {
    super(`Redis did not take the job for ${facts.id}; the sweeper will find it`, facts, { cause });
  }
}
