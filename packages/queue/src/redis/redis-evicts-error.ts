import { CodedError } from "@planwright/plan";

/** Redis may evict keys, including jobs, when memory runs out. Workers do not start on such a server. */
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
