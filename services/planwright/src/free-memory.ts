import type { EventLoopUtilization } from "node:perf_hooks";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** How often a look says whether the process was idle since the last one, in milliseconds. */
const IDLE_LOOK_MS = 10_000;
/** A process that is busy for a smaller part of the time is idle. */
const IDLE_PART = 0.1;

/**
 * Gives memory back once at the beginning of each idle time. V8 collects garbage when much is made, so an idle process
 * would hold what its start or its last load left behind, a third of its memory, for minutes.
 * @param utilizationSince - of the event loop since an earlier one. Default: that of this process
 */
export function freeMemoryWhenIdle(
  utilizationSince: (earlier?: EventLoopUtilization) => EventLoopUtilization = (earlier) =>
    performance.eventLoopUtilization(earlier),
): void {
  setFlagsFromString("--expose-gc");
  const collectGarbage: () => void = runInNewContext("gc");
  let last = utilizationSince();
  let isIdle = false;
  setInterval(() => {
    const { utilization } = utilizationSince(last);
    last = utilizationSince();
    const wasIdle = isIdle;
    isIdle = utilization < IDLE_PART;
    if (isIdle && !wasIdle) collectGarbage();
  }, IDLE_LOOK_MS).unref();
}
