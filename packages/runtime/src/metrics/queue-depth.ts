import type { Registry } from "prom-client";
import { createReadGauge } from "./read-gauge.ts";

/** How the depth of a service's queue is read. */
export interface QueueDepthParts {
  /** The service that takes the jobs, such as "executor": part of the metric names. */
  service: string;
  countWaiting: () => Promise<number>;
  due: {
    /** What is due, such as "plans": part of the metric name. */
    what: string;
    help: string;
    /** Finds what is due and held by no worker, at most `limit`. */
    find: (limit: number) => Promise<readonly unknown[]>;
  };
}

/** A scrape counts at most so many; more than that is an alarm in any case. */
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
