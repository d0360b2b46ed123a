/** What followers get when the change stream of their process breaks, and the number of streams. */
import type { ChangeListener } from "@planwright/store";
import type { Client } from "graphql-ws";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { BLOG_PLAN, type RunningApi, startTestApi } from "./running-api.ts";
import { webSocketClient } from "./web-socket-client.ts";
import { executeAs } from "./workers.ts";

const FOLLOW = "subscription ($id: ID!) { requestUpdated(requestId: $id) { status } }";

let running: RunningApi;
beforeAll(async () => {
  running = await startTestApi();
});
afterAll(() => running.close());

function connect(): Client {
  const client = webSocketClient(running.api.url);
  return client;
}

async function submit(): Promise<{ requestId: string; planId: string }> {
  const { body } = await running.graphql(
    "mutation($plan: JSON!) { submitPlan(plan: $plan, execute: true) { requestId planId } }",
    { plan: BLOG_PLAN },
  );
  return body.data.submitPlan;
}

/** The change streams that the service opens; while one is broken, it delivers nothing. */
function watches() {
  const opened: ChangeListener[] = [];
  const state = { isBroken: false, opened };
  const { store } = running;
  const watch = store.watchChanges.bind(store);
  const spy = vi.spyOn(store, "watchChanges").mockImplementation((listener) => {
    opened.push(listener);
    return watch({
      ...listener,
      onChange(id) {
        if (!state.isBroken) listener.onChange(id);
      },
    });
  });
  onTestFinished(() => spy.mockRestore());
  return state;
}

test("changes during a break of the change stream are sent when it is open again", async () => {
  const stream = watches();
  const { requestId, planId } = await submit();
  const states = connect().iterate({ query: FOLLOW, variables: { id: requestId } });
  expect((await states.next()).value?.data).toEqual({ requestUpdated: { status: "EXECUTING" } });
  stream.isBroken = true;
  await executeAs(running.store, planId);
  stream.opened[0]?.onGap();
  const received: unknown[] = [];
  for await (const { data } of states) received.push(data?.["requestUpdated"]);
  expect(received.at(-1)).toEqual({ status: "COMPLETED" });
});

test("one change stream serves all followers of a process, and closes after the last of them", async () => {
  const stream = watches();
  const requests = [await submit(), await submit(), await submit()];
  const client = connect();
  const followers = Array.from({ length: 12 }, (_, index) =>
    client.iterate({ query: FOLLOW, variables: { id: requests[index % 3]!.requestId } }),
  );
  const first = await Promise.all(followers.map((states) => states.next()));
  for (const { value } of first) expect(value?.data).toEqual({ requestUpdated: { status: "EXECUTING" } });
  expect(stream.opened).toHaveLength(1);
  for (const { planId } of requests) await executeAs(running.store, planId);
  for (const states of followers) {
    let last: unknown;
    for await (const { data } of states) last = data;
    expect(last).toEqual({ requestUpdated: { status: "COMPLETED" } });
  }
  expect(stream.opened).toHaveLength(1);
});
