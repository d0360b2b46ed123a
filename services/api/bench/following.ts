import { setTimeout as delay } from "node:timers/promises";
import type { PlanClaim, Store } from "@planwright/store";
import { type Latencies, latenciesOf } from "./figures.ts";
import type { Subscribe } from "./subscribers.ts";

/** Many who follow one request. */
export interface Following {
  url: string;
  store: Store;
  /** A plan of the steps s0, s1, ... that nobody else executes. */
  claim: PlanClaim;
  requestId: string;
  subscribers: number;
  /** Between two events. */
  everyMs: number;
  subscribe: Subscribe;
}

/**
 * Completes one step after the other and notes when each subscriber has heard of it: from before the write to the words in
 * the client's process. Missed are events that a subscriber was not told of by themselves, and ends that did not come.
 */
export async function measureFollowing(
  following: Following,
): Promise<Latencies & { events: number; subscribers: number; missed: number }> {
  const { url, store, claim, requestId, subscribers, everyMs, subscribe } = following;
  const steps = [...claim.steps.keys()];
  const writtenAt: number[] = [];
  const durations: number[] = [];
  const heard = Array.from({ length: subscribers }, () => new Set<number>());
  const open: Promise<void>[] = [];
  const all = heard.map((seen) => {
    let isOpen = (): void => undefined;
    open.push(new Promise((resolve) => (isOpen = resolve)));
    return subscribe(url, requestId, (text) => {
      isOpen();
      const completed = Number(/"completed":(\d+)/.exec(text)?.[1] ?? 0);
      if (completed === 0 || seen.has(completed)) return;
      seen.add(completed);
      durations.push(performance.now() - (writtenAt[completed - 1] ?? Number.NaN));
    });
  });
  const ends = Promise.all(all.map(({ ended }) => ended));
  await Promise.race([Promise.all(open), ends]);
  for (const stepId of steps) {
    writtenAt.push(performance.now());
    const record = { key: stepId, stepId, status: "COMPLETED" as const, attempts: 1, output: null };
    await store.writeRecords(claim, [record], []);
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
    ...latenciesOf(durations),
  };
}
