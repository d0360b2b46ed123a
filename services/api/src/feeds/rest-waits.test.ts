import type { PlanId, RequestId } from "@planwright/plan";
import type { ChangeListener, PlanHead, RequestDocument } from "@planwright/store";
import { expect, onTestFinished, test, vi } from "vitest";
import { createRestWaits } from "./rest-waits.ts";

const REQUEST = "req_1" as RequestId;

/** A store of one request. The test reports its changes. */
function world() {
  const state = {
    status: "EXECUTING",
    planId: "plan_1",
    planStatus: "RUNNING",
    waitReason: null as string | null,
  };
  const counts = { reads: 0, readsOfPlan: 0, watches: 0, closed: 0 };
  let listener: ChangeListener | undefined;
  let becomeReady = (): void => undefined;
  let ready = Promise.resolve();
  const getRequest = async (tenant: string, id: string) => {
    counts.reads += 1;
    if (tenant !== "t1" || id !== REQUEST) return null;
    const { status, planId } = state;
    return { _id: id, status, planId, dueAt: null, lease: null } as unknown as RequestDocument;
  };
  const planHead = (planId: unknown) => {
    const { planStatus: status, waitReason } = state;
    return { _id: planId, status, waitReason } as unknown as PlanHead;
  };
  const waits = createRestWaits({
    store: {
      getRequest,
      getPlanHeads: async (_, [planId]) => {
        counts.readsOfPlan += 1;
        return [planHead(planId)];
      },
      getRequestWithPlan: async (tenant, id) => {
        const request = await getRequest(tenant, id);
        return request && { request, plan: planHead(request.planId) };
      },
      watchRequestsAtRest(heard) {
        counts.watches += 1;
        listener = heard;
        return { ready, close: async () => void (counts.closed += 1) };
      },
    },
    logger: { info: () => undefined, warn: () => undefined, error: () => undefined },
  });
  /** After this call watches open only when the returned function is called. */
  const holdWatch = () => {
    ready = new Promise((resolve) => {
      becomeReady = resolve;
    });
    return () => becomeReady();
  };
  return {
    state,
    counts,
    waits,
    holdWatch,
    report: (id: string) => listener?.onChange(id),
    gap: () => listener?.onGap(),
  };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test("a request at rest is returned at once, and so is undefined for an unknown one", async () => {
  const { state, waits } = world();
  state.status = "COMPLETED";
  expect((await waits.untilAtRest("t1", REQUEST, { waitMs: 60_000 }))?.request.status).toBe("COMPLETED");
  expect(await waits.untilAtRest("t2", REQUEST, { waitMs: 60_000 })).toBeUndefined();
});

test("a reported change causes a read; changes of other requests do not", async () => {
  const { state, counts, waits, report } = world();
  const waiting = waits.untilAtRest("t1", REQUEST, { waitMs: 60_000 });
  await turn();
  report("req_2");
  report("plan_2");
  await turn();
  expect(counts.reads).toBe(1);
  report("plan_1");
  await turn();
  expect(counts.reads).toBe(2);
  Object.assign(state, { planStatus: "WAITING", waitReason: "approval" });
  report("plan_1");
  expect((await waiting)?.plan?.status).toBe("WAITING");
});

test("a change during a read causes another read", async () => {
  const { state, waits, report } = world();
  const waiting = waits.untilAtRest("t1", REQUEST, { waitMs: 60_000 });
  // The first read is in progress by now.
  await Promise.resolve();
  state.status = "FAILED";
  report(REQUEST);
  expect((await waiting)?.request.status).toBe("FAILED");
});

test("after a new version of the plan, changes of its id are waited for", async () => {
  const { state, counts, waits, report } = world();
  const waiting = waits.untilAtRest("t1", REQUEST, { waitMs: 60_000 });
  await turn();
  state.planId = "plan_2";
  report(REQUEST);
  await turn();
  report("plan_1");
  await turn();
  expect(counts.reads).toBe(2);
  Object.assign(state, { planStatus: "PAUSED" });
  report("plan_2");
  expect((await waiting)?.plan?.status).toBe("PAUSED");
});

test("after a gap everything is read again", async () => {
  const { state, waits, gap } = world();
  const waiting = waits.untilAtRest("t1", REQUEST, { waitMs: 60_000 });
  await turn();
  state.status = "CANCELLED";
  gap();
  expect((await waiting)?.request.status).toBe("CANCELLED");
});

test("a wait keeps the change stream open that would have been closed soon", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const { counts, waits } = world();
  waits.listen();
  await turn();
  const acceptedPlanId = "plan_1" as PlanId;
  const waiting = waits.untilAtRest("t1", REQUEST, { waitMs: 600_000, acceptedPlanId });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(counts.closed).toBe(0);
  await waits.close();
  await waiting;
});

test("a wait for a request whose acceptance took longer than the change stream stayed open opens it again", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const { state, counts, waits, report } = world();
  waits.listen();
  await turn();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(counts.closed).toBe(1);
  const acceptedPlanId = "plan_1" as PlanId;
  const waiting = waits.untilAtRest("t1", REQUEST, { waitMs: 600_000, acceptedPlanId });
  await turn();
  expect(counts.watches).toBe(2);
  state.status = "COMPLETED";
  report(REQUEST);
  expect((await waiting)?.request.status).toBe("COMPLETED");
  await waits.close();
});

test("after the timeout, when the client has left or when the service stops, the current state is returned", async () => {
  const { state, waits } = world();
  expect((await waits.untilAtRest("t1", REQUEST, { waitMs: 1 }))?.request.status).toBe("EXECUTING");
  const client = new AbortController();
  const waiting = waits.untilAtRest("t1", REQUEST, { waitMs: 60_000, signal: client.signal });
  await turn();
  client.abort();
  expect((await waiting)?.plan?.status).toBe("RUNNING");
  expect(
    (await waits.untilAtRest("t1", REQUEST, { waitMs: 60_000, signal: AbortSignal.abort() }))?.request.status,
  ).toBe("EXECUTING");
  const last = waits.untilAtRest("t1", REQUEST, { waitMs: 60_000 });
  await turn();
  // This change is not reported: the request is read a last time.
  state.status = "COMPLETED";
  await waits.close();
  expect((await last)?.request.status).toBe("COMPLETED");
});

test("a wait ends in time even if the watch does not open", async () => {
  const { waits, holdWatch } = world();
  holdWatch();
  expect((await waits.untilAtRest("t1", REQUEST, { waitMs: 5 }))?.request.status).toBe("EXECUTING");
});

test("nothing is read before the watch is open, so that no change after the read is missed", async () => {
  const { state, counts, waits, holdWatch } = world();
  const openWatch = holdWatch();
  const waiting = waits.untilAtRest("t1", REQUEST, { waitMs: 60_000 });
  await turn();
  expect(counts.reads).toBe(0);
  state.status = "COMPLETED";
  openWatch();
  expect((await waiting)?.request.status).toBe("COMPLETED");
});

test("one watch serves all waits, also waits that begin soon after the last one has ended", async () => {
  const { state, counts, waits } = world();
  state.status = "COMPLETED";
  await Promise.all([1, 2].map(() => waits.untilAtRest("t1", REQUEST, { waitMs: 60_000 })));
  await waits.untilAtRest("t1", REQUEST, { waitMs: 60_000 });
  expect(counts).toMatchObject({ watches: 1, closed: 0 });
  await waits.close();
  expect(counts.closed).toBe(1);
});

const ACCEPTED = { waitMs: 60_000, acceptedPlanId: "plan_1" as PlanId };

test("listen returns whether the watch is open, and the watch stays open for waits that begin soon after", async () => {
  const { counts, waits } = world();
  expect(waits.listen()).toBe(false);
  await turn();
  expect(waits.listen()).toBe(true);
  expect(counts).toMatchObject({ watches: 1, closed: 0 });
  await waits.close();
  expect(waits.listen()).toBe(false);
});

test("a request that was accepted while the watch was open is not read before a change is reported", async () => {
  const { state, counts, waits, report } = world();
  waits.listen();
  await turn();
  const waiting = waits.untilAtRest("t1", REQUEST, ACCEPTED);
  await turn();
  expect(counts.reads).toBe(0);
  state.status = "COMPLETED";
  report("plan_1");
  expect((await waiting)?.request.status).toBe("COMPLETED");
  // With its plan.
  expect(counts).toMatchObject({ reads: 1, readsOfPlan: 0 });
});

test.each(["req_1", "plan_1"])(
  "a change of %s between its acceptance and the wait causes a read at once",
  async (id) => {
    const { state, waits, report } = world();
    waits.listen();
    await turn();
    state.status = "FAILED";
    report(id);
    expect((await waits.untilAtRest("t1", REQUEST, ACCEPTED))?.request.status).toBe("FAILED");
  },
);

test("when a wait ends without a reported change, the request is read a last time", async () => {
  const { state, counts, waits } = world();
  waits.listen();
  await turn();
  expect((await waits.untilAtRest("t1", REQUEST, { ...ACCEPTED, waitMs: 1 }))?.request.status).toBe(
    "EXECUTING",
  );
  expect(counts.reads).toBe(1);
  state.status = "COMPLETED";
  const waiting = waits.untilAtRest("t1", REQUEST, ACCEPTED);
  await waits.close();
  expect((await waiting)?.request.status).toBe("COMPLETED");
});
