import { setTimeout as delay } from "node:timers/promises";
import type { PlanClaim, Store } from "@planwright/store";
import { writeCalled } from "../../../../../services/api/test/workers.ts";
import { type Latencies, latenciesOf } from "../../measuring/latencies.ts";
import type { Subscribe } from "./subscribers.ts";

/** Many subscribers of one request. */
export interface Following {
  url: string;
  store: Store;
  /** A plan of the steps s0, s1, ..., claimed by the benchmark. */
  claim: PlanClaim;
  requestId: string;
  subscribers: number;
  /** Interval between two events. */
  everyMs: number;
  subscribe: Subscribe;
}

/** Latencies of events, and how many were missed. */
export type Followed = Latencies & {
  events: number;
  subscribers: number;
  /** Events that a subscriber never received. */
  missed: number;
  /** Received events that came together with the next one. */
  merged: number;
};

/**
 * Completes one step after the other and measures when each subscriber receives the change: from just before
 * the write until the text is in the client's process.
 */
export async function measureFollowing(following: Following): Promise<Followed> {
  const { url, store, claim, requestId, subscribers, everyMs, subscribe } = following;
  const steps = claim.plan.plan.steps.map(({ id }): string => id);
  const writtenAt: number[] = [];
  const durations: number[] = [];
  /** Number of events that each subscriber has received. */
  const received = Array.from({ length: subscribers }, () => 0);
  let merged = 0;
  const open: Promise<void>[] = [];
  const all = received.map((_, index) => {
    let isOpen = (): void => undefined;
    open.push(new Promise((resolve) => (isOpen = resolve)));
    return subscribe(url, requestId, (text) => {
      isOpen();
      const completed = Number(/"completed":(\d+)/.exec(text)?.[1] ?? 0);
      const known = received[index] ?? 0;
      if (completed <= known) return;
      received[index] = completed;
      merged += completed - known - 1;
      const nowMs = performance.now();
      for (const writtenMs of writtenAt.slice(known, completed)) durations.push(nowMs - writtenMs);
    });
  });
  const ends = Promise.all(all.map(({ ended }) => ended));
  await Promise.race([Promise.all(open), ends]);
  for (const stepId of steps) {
    writtenAt.push(performance.now());
    const record = { key: stepId, stepId, status: "COMPLETED" as const, attempts: 1, output: null };
    await writeCalled(store, claim, [record]);
    await delay(everyMs);
  }
  await store.finishPlan(claim, { type: "finish", status: "COMPLETED", outputs: {} });
  const timeout = new AbortController();
  await Promise.race([ends, delay(30_000, undefined, { signal: timeout.signal }).catch(() => undefined)]);
  timeout.abort();
  for (const subscriber of all) subscriber.leave();
  const expected = subscribers * steps.length;
  return {
    events: steps.length,
    subscribers,
    missed: expected - durations.length,
    merged,
    ...latenciesOf(durations),
  };
}
