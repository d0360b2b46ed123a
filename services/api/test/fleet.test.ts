import type { Scope } from "@planwright/store";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bearer } from "./keys.ts";
import { BLOG_PLAN, type RunningApi, startTestApi } from "./running-api.ts";

let running: RunningApi;
let requestId: string;
beforeAll(async () => {
  running = await startTestApi({ anonymous: "refuse" });
  const { store } = running;
  await store.addWorker({ _id: "host:1:abc", kind: "executor" });
  await store.addWorker({ _id: "host:2:def", kind: "planner", hasModel: false });
  await store.addWorker({ _id: "host:3:old", kind: "executor", addressKey: "here" });
  await store.declarePredecessorsDead({ _id: "host:4:new", kind: "executor", addressKey: "here" });
  const document = "mutation ($plan: JSON!) { submitPlan(plan: $plan, execute: true) { requestId } }";
  const owner = await bearer(store, ["execute"], { tenant: "owner" });
  requestId = (await running.graphql(document, { plan: BLOG_PLAN }, owner)).body.data.submitPlan.requestId;
});
afterAll(() => running.close());

const QUERY = `{ fleet {
  at
  workers { name kind takesWork hasModel startedAt seenAt silentMs holds }
  lostWorkers { name kind startedAt seenAt deadAt leasesLost }
  plans { due oldest { since ageMs requestId } } requests { due oldest { requestId } }
} }`;
const fleetFor = async (tenant: string, ...scopes: Scope[]) => {
  const { body } = await running.graphql(QUERY, {}, await bearer(running.store, scopes, { tenant }));
  return body.data.fleet;
};

test("operators see live and dead workers and the waiting work, with ids of their own tenant", async () => {
  expect(await fleetFor("owner", "read", "operate")).toEqual({
    at: expect.any(String),
    workers: [
      {
        name: "host:1:abc",
        kind: "EXECUTOR",
        takesWork: true,
        hasModel: null,
        startedAt: expect.any(String),
        seenAt: expect.any(String),
        silentMs: expect.any(Number),
        holds: 0,
      },
      expect.objectContaining({ name: "host:2:def", kind: "PLANNER", hasModel: false }),
    ],
    lostWorkers: [
      {
        name: "host:3:old",
        kind: "EXECUTOR",
        startedAt: expect.any(String),
        seenAt: expect.any(String),
        deadAt: expect.any(String),
        leasesLost: 0,
      },
    ],
    plans: { due: 1, oldest: { since: expect.any(String), ageMs: expect.any(Number), requestId } },
    requests: { due: 0, oldest: null },
  });
});

test("operators of another tenant see the age of the oldest waiting work, not its id", async () => {
  const { plans } = await fleetFor("intruder", "admin");
  expect(plans).toMatchObject({ due: 1, oldest: { ageMs: expect.any(Number), requestId: null } });
});

test("callers without operate see the workers, and no counts of other tenants", async () => {
  const fleet = await fleetFor("intruder", "read");
  expect(fleet).toMatchObject({ plans: null, requests: null });
  expect(fleet.workers.map(({ holds }: { holds: unknown }) => holds)).toEqual([null, null]);
  expect(fleet.lostWorkers).toMatchObject([{ name: "host:3:old", leasesLost: null }]);
});

test("a caller without read gets nothing", async () => {
  const { status, body } = await running.graphql(QUERY, {}, await bearer(running.store, ["operate"]));
  expect({ status, code: body.errors[0].extensions.code }).toEqual({ status: 403, code: "FORBIDDEN" });
});
