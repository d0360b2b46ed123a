import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createLogger } from "./create-logger.ts";
import { type HeartbeatOptions, startHeartbeat } from "./start-heartbeat.ts";

const logger = createLogger({ service: "test", level: "silent" });
const NOTHING_TAKEN = { owners: [], plans: 0, requests: 0 };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A store of workers that records the calls. */
function workerStore() {
  const calls: string[] = [];
  const judged: boolean[] = [];
  let isDead = false;
  const workers: HeartbeatOptions["workers"] = {
    async declarePredecessorsDead({ addressKey }) {
      calls.push(`alone at ${addressKey}`);
      return 0;
    },
    addWorker: async ({ _id }) => void calls.push(`add ${_id}`),
    async beat(owner) {
      calls.push(`beat ${owner}`);
      return !isDead;
    },
    retireWorker: async (owner) => void calls.push(`retire ${owner}`),
    removeWorker: async (owner) => void calls.push(`remove ${owner}`),
    async takeFromDead({ declaresSilent }) {
      judged.push(declaresSilent);
      return NOTHING_TAKEN;
    },
  };
  return {
    calls,
    judged,
    workers,
    declareDead(): void {
      isDead = true;
    },
    forget(): void {
      isDead = false;
    },
  };
}

const start = (workers: HeartbeatOptions["workers"], more: Partial<HeartbeatOptions> = {}) =>
  startHeartbeat({
    workers,
    name: "w",
    kind: "executor",
    addressKey: null,
    deadAfterMs: 5_000,
    onDead: () => undefined,
    logger,
    ...more,
  });

test("a process is added before it starts, sends a heartbeat about once a second, and is removed when it stops", async () => {
  const { calls, workers } = workerStore();
  const heartbeat = await start(workers, { addressKey: "here" });
  expect(calls).toEqual(["alone at here", "add w"]);
  await vi.advanceTimersByTimeAsync(2_000);
  await heartbeat.retire();
  await vi.advanceTimersByTimeAsync(1_000);
  await heartbeat.stop();
  await heartbeat.stop();
  await vi.advanceTimersByTimeAsync(5_000);
  const beats = ["beat w", "beat w", "retire w", "beat w"];
  expect(calls).toEqual(["alone at here", "add w", ...beats, "remove w"]);
});

test("calls may start until `deadAfterMs` after the time when the last answered heartbeat was sent", async () => {
  const { workers } = workerStore();
  const begunAt = performance.now();
  let answer: () => void = () => undefined;
  const heartbeat = await start({
    ...workers,
    async beat() {
      await new Promise<void>((resolve) => (answer = resolve));
      return true;
    },
  });
  expect(heartbeat.validUntil()).toBe(begunAt + 5_000);
  await vi.advanceTimersByTimeAsync(4_000);
  expect(heartbeat.validUntil()).toBe(begunAt + 5_000);
  const nextAnswer = heartbeat.nextAnswer();
  answer();
  await nextAnswer;
  expect(heartbeat.validUntil()).toBe(begunAt + 6_000);
});

test("a process that was declared dead loses its leases, and continues under another name", async () => {
  const { calls, workers, declareDead, forget } = workerStore();
  const lost: string[] = [];
  const heartbeat = await start(workers, {
    onDead() {
      lost.push(heartbeat.owner());
      forget();
    },
  });
  declareDead();
  const nextAnswer = heartbeat.nextAnswer();
  await vi.advanceTimersByTimeAsync(1_000);
  await nextAnswer;
  expect(lost).toEqual(["w.2"]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(calls).toEqual(["add w", "beat w", "add w.2", "beat w.2"]);
  await heartbeat.stop();
  expect(calls.at(-1)).toBe("remove w.2");
});

test("a process that was declared dead may be silent for twice as long, and says so with each heartbeat", async () => {
  const { workers, declareDead, forget } = workerStore();
  const stored: number[] = [];
  const heartbeat = await start(
    {
      ...workers,
      async addWorker(worker) {
        stored.push(worker.deadAfterMs);
        await workers.addWorker(worker);
      },
      async beat(owner, deadAfterMs) {
        stored.push(deadAfterMs);
        return workers.beat(owner, deadAfterMs);
      },
    },
    { onDead: forget },
  );
  declareDead();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(stored).toEqual([5_000, 5_000, 10_000, 10_000]);
  expect(heartbeat.validUntil()).toBe(performance.now() + 10_000);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(stored.at(-1)).toBe(5_000);
  expect(heartbeat.validUntil()).toBe(performance.now() + 5_000);
  await heartbeat.stop();
});

test("a process that could not be added under another name starts no call, and tries again", async () => {
  const { calls, workers, declareDead, forget } = workerStore();
  let isAway = false;
  const heartbeat = await start(
    {
      ...workers,
      async addWorker(worker) {
        if (isAway) throw new TypeError("no connection");
        await workers.addWorker(worker);
      },
    },
    { onDead: () => void (isAway = true) },
  );
  declareDead();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(heartbeat.validUntil()).toBe(Number.NEGATIVE_INFINITY);
  isAway = false;
  forget();
  calls.length = 0;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(calls).toEqual(["beat w.2"]);
});

test("after a gap of its own heartbeats a process declares no worker dead for `deadAfterMs`", async () => {
  const { judged, workers } = workerStore();
  let isAway = false;
  await start({
    ...workers,
    async beat(...beat) {
      if (isAway) throw new TypeError("no connection");
      return workers.beat(...beat);
    },
  });
  await vi.advanceTimersByTimeAsync(4_000);
  // True from the third check, after two intervals.
  expect(judged).toEqual([false, false, true, true, true]);
  judged.length = 0;
  isAway = true;
  await vi.advanceTimersByTimeAsync(3_000);
  isAway = false;
  await vi.advanceTimersByTimeAsync(7_000);
  expect(judged).toEqual([false, false, false, false, false, true, true]);
});

test("a process that made work of dead workers due is told so, after each heartbeat that took some", async () => {
  const { workers } = workerStore();
  const taken = [NOTHING_TAKEN, { owners: ["dead"], plans: 1, requests: 0 }, NOTHING_TAKEN];
  let told = 0;
  const takeFromDead = async () => taken.shift() ?? { owners: ["dead"], plans: 0, requests: 2 };
  await start({ ...workers, takeFromDead }, { onTaken: () => void (told += 1) });
  const counts: number[] = [];
  for (let beat = 0; beat < 3; beat++) {
    await vi.advanceTimersByTimeAsync(1_000);
    counts.push(told);
  }
  expect(counts).toEqual([1, 1, 2]);
});

test("no heartbeat begins while one is in flight, and a failed one is followed by the next", async () => {
  const { workers } = workerStore();
  let beats = 0;
  let release: () => void = () => undefined;
  const heartbeat = await start({
    ...workers,
    async beat() {
      beats += 1;
      if (beats === 1) throw new TypeError("no connection");
      if (beats === 2) await new Promise<void>((resolve) => (release = resolve));
      return true;
    },
  });
  await vi.advanceTimersByTimeAsync(5_000);
  expect(beats).toBe(2);
  release();
  await heartbeat.stop();
});

test("heartbeats are sent while the look for dead workers gets no answer, and looks follow one another", async () => {
  const { calls, workers } = workerStore();
  let looks = 0;
  let answer: () => void = () => undefined;
  const heartbeat = await start({
    ...workers,
    async takeFromDead() {
      looks += 1;
      if (looks === 2) await new Promise<void>((resolve) => (answer = resolve));
      return NOTHING_TAKEN;
    },
  });
  await vi.advanceTimersByTimeAsync(4_000);
  expect(calls).toEqual(["add w", "beat w", "beat w", "beat w", "beat w"]);
  expect(heartbeat.validUntil()).toBe(performance.now() + 5_000);
  expect(looks).toBe(2);
  answer();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(looks).toBe(3);
});
