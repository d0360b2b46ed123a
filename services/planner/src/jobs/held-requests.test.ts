import { createRequestId, type RequestId } from "@planwright/plan";
import { createLogger } from "@planwright/runtime";
import type { PlanningClaim } from "@planwright/store";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createHeldRequests } from "./held-requests.ts";

const REQUEST = createRequestId(0, (bytes) => bytes.fill(1));
const ROUND_MS = 1_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/**
 * A database in which a worker holds these requests; it records the released requests and the survived
 * claims.
 */
function holding(...held: { id: RequestId; epoch: number }[]) {
  const released: RequestId[] = [];
  const survived: { id: RequestId; epoch: number }[] = [];
  const warned: string[] = [];
  const logged: unknown[] = [];
  let owner = "planner";
  let isClaiming: Promise<void> = Promise.resolve();
  let isAnswering: Promise<void> = Promise.resolve();
  let isAway = false;
  const claim = { request: { _id: REQUEST }, epoch: 1, earlierCalls: [] } as unknown as PlanningClaim;
  const requests = createHeldRequests({
    store: {
      async claimRequest() {
        await isClaiming;
        return claim;
      },
    },
    leases: {
      async findHeld() {
        const now = [...held];
        await isAnswering;
        if (isAway) throw new Error("away");
        return now;
      },
      async releaseUnheld(open) {
        const now = open.filter((one) => held.includes(one));
        released.push(...now.map(({ id }) => id));
        return now;
      },
      async recordSurvived(claims) {
        survived.push(...claims);
      },
    },
    liveness: { owner: () => owner, validUntil: () => Number.POSITIVE_INFINITY },
    maxRequests: 8,
    deadAfterMs: ROUND_MS * 3.3,
    logger: createLogger({
      service: "test",
      destination: {
        write(line) {
          logged.push(JSON.parse(line));
          warned.push(JSON.parse(line).msg);
        },
      },
    }),
  });
  return {
    held,
    released,
    survived,
    warned,
    logged,
    requests,
    away: (away: boolean) => void (isAway = away),
    rename: () => void (owner = "planner.2"),
    claimsWait: (until: Promise<void>) => void (isClaiming = until),
    answersWait: (until: Promise<void>) => void (isAnswering = until),
  };
}

const rounds = (count: number) => vi.advanceTimersByTimeAsync(count * ROUND_MS);

test("a request that the database shows as held stays held", async () => {
  const { requests } = holding({ id: REQUEST, epoch: 1 });
  const one = await requests.take(REQUEST);
  await rounds(5);
  expect(one?.lost.aborted).toBe(false);
  requests.end();
});

test("a claim that is missing is not lost in the first round, because its write may be in progress, and is lost in the second", async () => {
  const { requests, held } = holding({ id: REQUEST, epoch: 1 });
  const one = await requests.take(REQUEST);
  held.splice(0, 1, { id: REQUEST, epoch: 2 });
  await rounds(1);
  expect(one?.lost.aborted).toBe(false);
  await rounds(1);
  expect(one?.lost.reason).toMatchObject({ code: "LEASE_LOST" });
  requests.end();
});

test("a request that is held in the database but has no run here is released; one that is being claimed is not", async () => {
  const { requests, released, claimsWait } = holding({ id: REQUEST, epoch: 1 });
  let answer: () => void = () => undefined;
  claimsWait(new Promise((resolve) => (answer = resolve)));
  const taking = requests.take(REQUEST);
  await rounds(2);
  answer();
  const one = await taking;
  await rounds(2);
  expect(released).toEqual([]);
  one?.release({ isLost: false });
  await rounds(1);
  expect(released).toEqual([REQUEST]);
  requests.end();
});

test("a request that ended while the database answered is not reported as released", async () => {
  const { requests, held, released, warned, answersWait } = holding({ id: REQUEST, epoch: 1 });
  const one = await requests.take(REQUEST);
  let answer: () => void = () => undefined;
  answersWait(new Promise((resolve) => (answer = resolve)));
  await rounds(1);
  held.splice(0);
  one?.release({ isLost: false });
  answer();
  await rounds(0);
  expect({ released, warned }).toEqual({ released: [], warned: [] });
  requests.end();
});

test("a database that is away is logged once, and its return with the length of the outage", async () => {
  const { requests, logged, away } = holding({ id: REQUEST, epoch: 1 });
  await requests.take(REQUEST);
  for (let outage = 1; outage <= 2; outage += 1) {
    away(true);
    await rounds(6);
    away(false);
    await rounds(3);
    expect(logged.splice(0)).toMatchObject([
      { msg: "could not check for requests that are not worked on; it is tried again" },
      { msg: "can check for requests that are not worked on again", failedForMs: 6 * ROUND_MS },
    ]);
  }
  requests.end();
});

test("a process that was declared dead loses the requests that it holds or is claiming", async () => {
  const { requests, rename, claimsWait } = holding({ id: REQUEST, epoch: 1 });
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

test("a lost request that did not end this process is recorded once; a request that ended is not recorded", async () => {
  const { requests, survived } = holding({ id: REQUEST, epoch: 1 });
  (await requests.take(REQUEST))?.release({ isLost: false });
  await rounds(1);
  expect(survived).toEqual([]);
  (await requests.take(REQUEST))?.release({ isLost: true });
  await rounds(2);
  expect(survived).toEqual([{ id: REQUEST, epoch: 1 }]);
  requests.end();
});

test("a process that was declared dead holds fewer requests for a while", async () => {
  const { requests, warned } = holding({ id: REQUEST, epoch: 1 });
  await requests.take(REQUEST);
  expect(requests.allowed()).toBe(8);
  requests.loseAll();
  await rounds(1);
  expect(requests.allowed()).toBe(1);
  expect(warned).toEqual(["leases were lost; fewer requests are held for a while"]);
  await rounds(4);
  expect(requests.allowed()).toBe(8);
  requests.end();
});
