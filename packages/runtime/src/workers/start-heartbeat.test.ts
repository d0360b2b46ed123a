import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createLogger } from "../logging/create-logger.ts";
import { type HeartbeatOptions, startHeartbeat } from "./start-heartbeat.ts";

const logger = createLogger({ service: "test", level: "silent" });
const NOTHING_TAKEN = { owners: [], plans: 0, requests: 0 };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Where workers are known, by what is asked of it. */
function known() {
  const said: string[] = [];
  const judged: boolean[] = [];
  let isDead = false;
  const workers: HeartbeatOptions["workers"] = {
    async declarePredecessorsDead({ place }) {
      said.push(`alone at ${place}`);
      return 0;
    },
    addWorker: async ({ _id }) => void said.push(`add ${_id}`),
    async beat(owner) {
      said.push(`beat ${owner}`);
      return !isDead;
    },
    retireWorker: async (owner) => void said.push(`retire ${owner}`),
    removeWorker: async (owner) => void said.push(`remove ${owner}`),
    async takeFromDead({ declaresSilent }) {
      judged.push(declaresSilent);
      return NOTHING_TAKEN;
    },
  };
  return {
    said,
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
    place: null,
    deadAfterMs: 5_000,
    onDead: () => undefined,
    logger,
    ...more,
  });

test("a process says that it lives before it starts, then about once a second, and at last that it has stopped", async () => {
  const { said, workers } = known();
  const heartbeat = await start(workers, { place: "here" });
  expect(said).toEqual(["alone at here", "add w"]);
  await vi.advanceTimersByTimeAsync(2_000);
  await heartbeat.retire();
  await vi.advanceTimersByTimeAsync(1_000);
  await heartbeat.stop();
  await heartbeat.stop();
  await vi.advanceTimersByTimeAsync(5_000);
  const beats = ["beat w", "beat w", "retire w", "beat w"];
  expect(said).toEqual(["alone at here", "add w", ...beats, "remove w"]);
});

test("calls may start until other workers can have declared the process dead, counted from when its last answered beat was sent", async () => {
  const { workers } = known();
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
  const heard = heartbeat.heard();
  answer();
  await heard;
  expect(heartbeat.validUntil()).toBe(begunAt + 6_000);
});

test("a process that was declared dead loses what it holds, and goes on under another name", async () => {
  const { said, workers, declareDead, forget } = known();
  const lost: string[] = [];
  const heartbeat = await start(workers, {
    onDead() {
      lost.push(heartbeat.owner());
      forget();
    },
  });
  declareDead();
  const heard = heartbeat.heard();
  await vi.advanceTimersByTimeAsync(1_000);
  await heard;
  expect(lost).toEqual(["w.2"]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(said).toEqual(["add w", "beat w", "add w.2", "beat w.2"]);
  await heartbeat.stop();
  expect(said.at(-1)).toBe("remove w.2");
});

test("a process that could not come back under another name starts nothing, and tries again", async () => {
  const { said, workers, declareDead, forget } = known();
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
  said.length = 0;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(said).toEqual(["beat w.2"]);
});

test("a process that was itself not answered for a while declares no worker dead until it has been heard for as long as others may be silent", async () => {
  const { judged, workers } = known();
  let isAway = false;
  await start({
    ...workers,
    async beat(owner) {
      if (isAway) throw new TypeError("no connection");
      return workers.beat(owner);
    },
  });
  await vi.advanceTimersByTimeAsync(4_000);
  // From the second beat on.
  expect(judged).toEqual([false, false, true, true, true]);
  judged.length = 0;
  isAway = true;
  await vi.advanceTimersByTimeAsync(3_000);
  isAway = false;
  await vi.advanceTimersByTimeAsync(7_000);
  expect(judged).toEqual([false, false, false, false, false, true, true]);
});

test("no beat begins while one is under way, and one that fails is followed by the next", async () => {
  const { workers } = known();
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
