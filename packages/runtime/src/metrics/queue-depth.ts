import type { Registry } from "prom-client";
import { createReadGauge } from "./read-gauge.ts";

/** The reads for the depth of a service's queue. */
export interface QueueDepthParts {
  /** The service that takes the jobs, such as "executor": part of the metric names. */
  service: string;
  countWaiting: () => Promise<number>;
  due: {
    /** Kind of the due work, such as "plans": part of the metric name. */
    what: string;
    help: string;
    /** Finds work that is due and that no worker holds, at most `limit`. */
    find: (limit: number) => Promise<readonly unknown[]>;
  };
}

/** Maximum number that a scrape counts; more is an alarm in any case. */
const MAX_DUE = 1_000;

/**
 * Registers the depth of a queue, over all processes of the service: `planwright_{service}_jobs_waiting` and
 * `planwright_{service}_{what}_due`. Both are read at each scrape.
 */
export function registerQueueDepth(
  registry: Registry,
  { service, countWaiting, due }: QueueDepthParts,
): void {
  const registers = [registry];
  createReadGauge({
    registers,
    name: `planwright_${service}_jobs_waiting`,
    help: `Jobs in Redis that no ${service} has taken`,
    read: countWaiting,
  });
  createReadGauge({
    registers,
    name: `planwright_${service}_${due.what}_due`,
    help: `${due.help}, ${MAX_DUE} at most`,
    read: async () => (await due.find(MAX_DUE)).length,
  });
}
