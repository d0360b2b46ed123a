/**
 * How much the service takes on. Refusing at once is worth more than accepting what cannot be served in time: a refused
 * operation did nothing, and its client knows when to come back.
 *
 * 1. A mutation holds a place from before anything of it runs until it is answered, or only waits for others. When the
 *    database answers slowly, places fill up, and what comes then is refused instead of queued.
 * 2. New plans are refused while too many are unfinished. What was accepted is never dropped.
 */
import { OverloadedError } from "../errors/api-errors.ts";
import type { ApiMetrics } from "../telemetry/api-metrics.ts";

/** What admission is decided by. */
export interface AdmissionDependencies {
  /** Mutations under way at once, at most. */
  maxPendingMutations: number;
  /** Plans, and requests for one, that are not over, at most. */
  maxUnfinishedPlans: number;
  /** How many there are, or `limit` when there are more. */
  countUnfinished: (limit: number) => Promise<number>;
  /** Told of refusals. Default: none. */
  metrics?: Pick<ApiMetrics, "refused"> | undefined;
  /** Uniform in [0, 1). Default: the platform's. */
  random?: (() => number) | undefined;
  /** Milliseconds of a monotonic clock. Default: the platform's. */
  now?: (() => number) | undefined;
}

/** The gate that mutations pass. */
export interface Admission {
  /** Takes a place; the result gives it back, and does nothing when called again. @throws {OverloadedError} */
  enter(): () => void;
  /** Makes sure that there is room for one more plan. @throws {OverloadedError} */
  reserve(): Promise<void>;
}

/** How long a count is good for, in milliseconds. */
const COUNT_FOR_MS = 1_000;
/** Clients are asked to come back after 0.5 to 1.5 times this, so that they do not come back together. */
const RETRY_AFTER_MS = 1_000;

/** A gate for one process. */
export function createAdmission(dependencies: AdmissionDependencies): Admission {
  const { maxPendingMutations, maxUnfinishedPlans, countUnfinished } = dependencies;
  const { random = Math.random, now = () => performance.now() } = dependencies;
  let pending = 0;
  let known = 0;
  /** Let through since the count was asked for: they may be missing in it. */
  let reserved = 0;
  let countedAt = Number.NEGATIVE_INFINITY;
  let counting: Promise<void> | null = null;

  function overloaded(what: "mutations" | "plans", reason: string): OverloadedError {
    dependencies.metrics?.refused(what);
    return new OverloadedError(reason, Math.round(RETRY_AFTER_MS * (0.5 + random())));
  }

  /** Who comes meanwhile shares the answer. A count that fails changes nothing: the operation itself meets what is wrong. */
  function count(): Promise<void> {
    if (counting) return counting;
    known += reserved;
    reserved = 0;
    counting = countUnfinished(maxUnfinishedPlans)
      .then(
        (found) => {
          known = found;
          countedAt = now();
        },
        () => undefined,
      )
      .finally(() => {
        counting = null;
      });
    return counting;
  }

  return {
    enter() {
      if (pending >= maxPendingMutations) throw overloaded("mutations", `${pending} mutations are running`);
      pending += 1;
      let isHeld = true;
      return () => {
        if (isHeld) pending -= 1;
        isHeld = false;
      };
    },

    async reserve() {
      const isFull = (): boolean => known + reserved >= maxUnfinishedPlans;
      if (now() - countedAt >= COUNT_FOR_MS) {
        const counted = count();
        // Waited for only before a caller is refused by an old count.
        if (isFull()) await counted;
      }
      if (isFull()) throw overloaded("plans", `${known + reserved} plans are unfinished`);
      reserved += 1;
    },
  };
}
