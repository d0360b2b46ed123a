import type { Registry } from "prom-client";
import { createReadGauge } from "./read-gauge.ts";

/** Where the depth of a service's queue is asked for. */
export interface QueueDepthParts {
  /** Who takes the jobs, such as "executor": part of the names. */
  service: string;
  countWaiting: () => Promise<number>;
  due: {
    /** What is due, such as "plans": part of the name. */
    what: string;
    help: string;
    /** Those that are due and that no worker holds, at most `limit`. */
    find: (limit: number) => Promise<readonly unknown[]>;
  };
}

/** Most that a scrape looks at: it is an alarm by then. */
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
