import type { PlanId, RequestId } from "@planwright/plan";
import type { ChangeListener, PlanHead, RequestDocument } from "@planwright/store";
import { expect, test } from "vitest";
import { createRestWaits } from "./rest-waits.ts";

const REQUEST = "req_1" as RequestId;

/** A store of one request, whose changes are told by hand. */
function world() {
  const state = {
    status: "EXECUTING",
    planId: "plan_1",
    planStatus: "RUNNING",
    waitReason: null as string | null,
  };
  const counts = { reads: 0, watches: 0, closed: 0 };
  let listener: ChangeListener | undefined;
  let becomeReady = (): void => undefined;
  let ready = Promise.resolve();
  const waits = createRestWaits({
    store: {
      getRequest: async (tenant, id) => {
        counts.reads += 1;
        if (tenant !== "t1" || id !== REQUEST) return null;
        const { status, planId } = state;
        return {
          _id: id,
          status,
          planId,
          dueAt: null,
          lease: null,
        } as unknown as RequestDocument;
      },
      getPlanHeads: async (_, [planId]) => {
        const { planStatus: status, waitReason } = state;
        return [{ _id: planId, status, waitReason } as unknown as PlanHead];
      },
      watchRests(heard) {
        counts.watches += 1;
        listener = heard;
        return { ready, close: async () => void (counts.closed += 1) };
      },
    },
    logger: { info: () => undefined, warn: () => undefined, error: () => undefined },
  });
  /** From here on watches open when it is called. */
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
    tell: (id: string) => listener?.onChange(id),
    gap: () => listener?.onGap(),
  };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test("what is at rest is given at once, and what is unknown too", async () => {
  const { state, waits } = world();
  state.status = "COMPLETED";
  expect((await waits.untilAtRest("t1", REQUEST, { waitMs: 60_000 }))?.request.status).toBe("COMPLETED");
  expect(await waits.untilAtRest("t2", REQUEST, { waitMs: 60_000 })).toBeUndefined();
});

test("a change that is told is read; of other requests nothing is read", async () => {
  const { state, counts, waits, tell } = world();
  const waiting = waits.untilAtRest("t1", REQUEST, { waitMs: 60_000 });
  await turn();
  tell("req_2");
  tell("plan_2");
  await turn();
  expect(counts.reads).toBe(1);
  tell("plan_1");
  await turn();
  expect(counts.reads).toBe(2);
  Object.assign(state, { planStatus: "WAITING", waitReason: "approval" });
  tell("plan_1");
  expect((await waiting)?.plan?.status).toBe("WAITING");
});

test("a change that comes while the request is read is read again", async () => {
  const { state, waits, tell } = world();
  const waiting = waits.untilAtRest("t1", REQUEST, { waitMs: 60_000 });
  // The first reading is under way by now.
  await Promise.resolve();
  state.status = "FAILED";
  tell(REQUEST);
  expect((await waiting)?.request.status).toBe("FAILED");
});

test("another version of the plan is waited for under its own id", async () => {
  const { state, counts, waits, tell } = world();
  const waiting = waits.untilAtRest("t1", REQUEST, { waitMs: 60_000 });
  await turn();
  state.planId = "plan_2";
  tell(REQUEST);
  await turn();
  tell("plan_1");
  await turn();
  expect(counts.reads).toBe(2);
  Object.assign(state, { planStatus: "PAUSED" });
  tell("plan_2");
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

test("when the time has passed, the client is gone or the service stops, it is given as it stands", async () => {
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
  // Not told of: it is read a last time.
  state.status = "COMPLETED";
  await waits.close();
  expect((await last)?.request.status).toBe("COMPLETED");
});

test("a wait is over in time although the watch does not open", async () => {
  const { waits, holdWatch } = world();
  holdWatch();
  expect((await waits.untilAtRest("t1", REQUEST, { waitMs: 5 }))?.request.status).toBe("EXECUTING");
});

test("nothing is read before the watch is open: what happens after the reading is not missed", async () => {
  const { state, counts, waits, holdWatch } = world();
  const openWatch = holdWatch();
  const waiting = waits.untilAtRest("t1", REQUEST, { waitMs: 60_000 });
  await turn();
  expect(counts.reads).toBe(0);
  state.status = "COMPLETED";
  openWatch();
  expect((await waiting)?.request.status).toBe("COMPLETED");
});

test("one watch serves all waits, also those that come soon after the last has ended", async () => {
  const { state, counts, waits } = world();
  state.status = "COMPLETED";
  await Promise.all([1, 2].map(() => waits.untilAtRest("t1", REQUEST, { waitMs: 60_000 })));
  await waits.untilAtRest("t1", REQUEST, { waitMs: 60_000 });
  expect(counts).toMatchObject({ watches: 1, closed: 0 });
  await waits.close();
  expect(counts.closed).toBe(1);
});

const ACCEPTED = { waitMs: 60_000, acceptedPlanId: "plan_1" as PlanId };

test("the watch says when it is open, and stays open for those that come a moment later", async () => {
  const { counts, waits } = world();
  expect(waits.listen()).toBe(false);
  await turn();
  expect(waits.listen()).toBe(true);
  expect(counts).toMatchObject({ watches: 1, closed: 0 });
  await waits.close();
  expect(waits.listen()).toBe(false);
});

test("what was accepted while the watch was open is not read before something is told of it", async () => {
  const { state, counts, waits, tell } = world();
  waits.listen();
  await turn();
  const waiting = waits.untilAtRest("t1", REQUEST, ACCEPTED);
  await turn();
  expect(counts.reads).toBe(0);
  state.status = "COMPLETED";
  tell("plan_1");
  expect((await waiting)?.request.status).toBe("COMPLETED");
  expect(counts.reads).toBe(1);
});

test.each(["req_1", "plan_1"])(
  "what was told of %s between its acceptance and the wait is read at once",
  async (id) => {
    const { state, waits, tell } = world();
    waits.listen();
    await turn();
    state.status = "FAILED";
    tell(id);
    expect((await waits.untilAtRest("t1", REQUEST, ACCEPTED))?.request.status).toBe("FAILED");
  },
);

test("of a wait that is over although nothing was told the request is read a last time", async () => {
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
