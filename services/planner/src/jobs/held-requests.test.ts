import { createRequestId, type RequestId } from "@planwright/plan";
import type { PlanningClaim } from "@planwright/store";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createHeldRequests } from "./held-requests.ts";

const REQUEST = createRequestId(0, (bytes) => bytes.fill(1));
const LOOK_MS = 1_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A database in which a worker holds what the test says, and the requests that it was told were given up. */
function holding(...held: { requestId: RequestId; epoch: number }[]) {
  const givenUp: RequestId[] = [];
  const errors: unknown[] = [];
  let owner = "planner";
  let isClaiming: Promise<void> = Promise.resolve();
  const claim = { request: { _id: REQUEST }, epoch: 1, earlierCalls: [] } as unknown as PlanningClaim;
  const requests = createHeldRequests({
    store: {
      async claimRequest() {
        await isClaiming;
        return claim;
      },
      findHeldRequests: async () => [...held],
      async releaseUnheldRequests(open) {
        givenUp.push(...open.map(({ requestId }) => requestId));
      },
    },
    liveness: { owner: () => owner },
    lookEveryMs: LOOK_MS,
    onError: (error) => errors.push(error),
  });
  return {
    held,
    givenUp,
    requests,
    rename: () => void (owner = "planner.2"),
    claimsWait: (until: Promise<void>) => void (isClaiming = until),
  };
}

const looks = (count: number) => vi.advanceTimersByTimeAsync(count * LOOK_MS);

test("what the database says is held stays held", async () => {
  const { requests } = holding({ requestId: REQUEST, epoch: 1 });
  const one = await requests.take(REQUEST);
  await looks(5);
  expect(one?.lost.aborted).toBe(false);
  requests.end();
});

test("a claim whose last write is under way is not lost in the first look, and one that another planner has is in the second", async () => {
  const { requests, held } = holding({ requestId: REQUEST, epoch: 1 });
  const one = await requests.take(REQUEST);
  held.splice(0, 1, { requestId: REQUEST, epoch: 2 });
  await looks(1);
  expect(one?.lost.aborted).toBe(false);
  await looks(1);
  expect(one?.lost.reason).toMatchObject({ code: "LEASE_LOST" });
  requests.end();
});

test("what is held in the database and worked on by no run here is given up; what is being claimed is not", async () => {
  const { requests, givenUp, claimsWait } = holding({ requestId: REQUEST, epoch: 1 });
  let answer: () => void = () => undefined;
  claimsWait(new Promise((resolve) => (answer = resolve)));
  const taking = requests.take(REQUEST);
  await looks(2);
  answer();
  const one = await taking;
  await looks(2);
  expect(givenUp).toEqual([]);
  one?.release();
  await looks(1);
  expect(givenUp).toEqual([REQUEST]);
  requests.end();
});

test("a process that was declared dead loses what it holds, and what it was claiming", async () => {
  const { requests, rename, claimsWait } = holding({ requestId: REQUEST, epoch: 1 });
  const one = await requests.take(REQUEST);
  requests.loseAll();
  expect(one?.lost.aborted).toBe(true);
  let answer: () => void = () => undefined;
  claimsWait(new Promise((resolve) => (answer = resolve)));
  const taking = requests.take(REQUEST);
  rename();
  answer();
  expect((await taking)?.lost.aborted).toBe(true);
  requests.end();
});
