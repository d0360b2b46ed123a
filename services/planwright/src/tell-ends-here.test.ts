import type { ChangeListener, PlanClaim, Store } from "@planwright/store";
import { expect, test } from "vitest";
import { tellEndsHere } from "./tell-ends-here.ts";

const CLAIM = { plan: { requestId: "req_1" } } as PlanClaim;
const FINISH = { type: "finish", status: "COMPLETED", outputs: {} } as const;

/** A store whose ends become durable when the test says so; its change stream reports nothing. */
function world() {
  const ends: { durable(isForPlanner: boolean): void; failed(): void }[] = [];
  const streams: ChangeListener[] = [];
  const store = tellEndsHere<Pick<Store, "finishPlan" | "watchRequestsAtRest">>({
    finishPlan: () =>
      new Promise<{ isForPlanner: boolean }>((resolve, reject) => {
        ends.push({
          durable: (isForPlanner) => resolve({ isForPlanner }),
          failed: () => reject(new TypeError("the lease is lost")),
        });
      }),
    watchRequestsAtRest(listener: ChangeListener) {
      streams.push(listener);
      return { ready: Promise.resolve(), close: async () => void streams.pop() };
    },
  });
  const told: string[] = [];
  const watch = store.watchRequestsAtRest({
    onChange: (id) => void told.push(id),
    onGap: () => undefined,
    onError: () => undefined,
  });
  return { store, ends, streams, told, watch };
}

test("a wait is told of an end once it is durable, and not before", async () => {
  const { store, ends, told } = world();
  const finished = store.finishPlan(CLAIM, FINISH);
  await Promise.resolve();
  expect(told).toEqual([]);
  ends[0]?.durable(false);
  await finished;
  expect(told).toEqual(["req_1"]);
});

test("a wait is not told of an end that was not written, or after which a planner continues", async () => {
  const { store, ends, told } = world();
  const [lost, continued] = [store.finishPlan(CLAIM, FINISH), store.finishPlan(CLAIM, FINISH)];
  ends[0]?.failed();
  ends[1]?.durable(true);
  await expect(lost).rejects.toThrow("the lease is lost");
  await continued;
  expect(told).toEqual([]);
});

test("changes of other processes still come from the change stream, until the watch is closed", async () => {
  const { store, ends, streams, told, watch } = world();
  streams[0]?.onChange("req_2");
  await watch.close();
  const finished = store.finishPlan(CLAIM, FINISH);
  ends[0]?.durable(false);
  await finished;
  expect([told, streams]).toEqual([["req_2"], []]);
});
