/** Changes of a request list that clients get, over both transports. */
import type { ChangeListener } from "@planwright/store";
import { createClient as createEventClient } from "graphql-sse";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { bearer } from "./keys.ts";
import { BLOG_PLAN, type RunningApi, startTestApi } from "./running-api.ts";
import { webSocketClient } from "./web-socket-client.ts";
import { askApprovalAs, executeAs } from "./workers.ts";

const LIST = `subscription ($filter: RequestFilter) { requestsUpdated(filter: $filter) {
  kind requestId request { requestId status plan { status counts { completed } } } } }`;

interface Change {
  kind: "READ_LIST" | "CHANGED" | "LEFT";
  requestId: string | null;
  request: { status: string; plan: { status: string; counts: { completed: number } } | null } | null;
}
type Source = AsyncIterableIterator<{ data?: unknown; errors?: unknown }>;

let running: RunningApi;
beforeAll(async () => {
  running = await startTestApi({ maxSubscriptions: 20 });
});
afterAll(() => running.close());

/** Follows a separate list: the requests with a tag. */
function follow(filter: object, headers: Record<string, string> = {}): Source {
  const client = webSocketClient(running.api.url, { headers });
  return client.iterate({ query: LIST, variables: { filter } });
}

function followByEvents(filter: object): Source {
  const client = createEventClient({ url: `${running.api.url}/stream`, retryAttempts: 0 });
  onTestFinished(() => client.dispose());
  return client.iterate({ query: LIST, variables: { filter } });
}

async function nextOf(source: Source): Promise<Change> {
  const { value } = await source.next();
  expect(value?.errors).toBeUndefined();
  return value.data.requestsUpdated;
}

/** Reads until a change satisfies the condition. */
async function until(source: Source, isIt: (change: Change) => boolean): Promise<Change> {
  for (;;) {
    const change = await nextOf(source);
    if (isIt(change)) return change;
  }
}

async function submit(tag: string, headers = {}): Promise<{ requestId: string; planId: string }> {
  const document =
    "mutation ($plan: JSON!, $tags: [String!]) { submitPlan(plan: $plan, tags: $tags) { requestId planId } }";
  const { body } = await running.graphql(document, { plan: BLOG_PLAN, tags: [tag] }, headers);
  return body.data.submitPlan;
}

test.each([
  ["WebSocket", follow],
  ["server-sent events", followByEvents],
])("over %s a list gets new requests, their changes, and the requests that leave it", async (way, begin) => {
  const tag = way.replace(/\W/g, "-");
  const source = begin({ tag, status: ["EXECUTING"] });
  expect(await nextOf(source)).toEqual({ kind: "READ_LIST", requestId: null, request: null });
  const { requestId, planId } = await submit(tag);
  const first = await nextOf(source);
  expect(first).toMatchObject({ kind: "CHANGED", requestId, request: { requestId, status: "EXECUTING" } });
  await executeAs(running.store, planId as never);
  const left = await until(source, ({ kind }) => kind === "LEFT");
  expect(left).toEqual({ kind: "LEFT", requestId, request: null });
  await source.return?.();
});

test("a list of all requests shows the last state of each", async () => {
  const source = follow({ tag: "all" });
  await nextOf(source);
  const { requestId, planId } = await submit("all");
  await executeAs(running.store, planId as never);
  const last = await until(source, ({ request }) => request?.status === "COMPLETED");
  expect(last).toMatchObject({
    requestId,
    request: { plan: { status: "COMPLETED", counts: { completed: 2 } } },
  });
  await source.return?.();
});

test("a list of requests that wait for people gets a request when a step waits for approval", async () => {
  const source = follow({ tag: "people", needs: "APPROVAL" });
  await nextOf(source);
  const { requestId, planId } = await submit("people");
  await askApprovalAs(running.store, planId as never);
  const change = await until(source, ({ kind }) => kind === "CHANGED");
  expect(change).toMatchObject({ requestId, request: { plan: { status: expect.any(String) } } });
  await source.return?.();
});

test("changes between the first message and the reading of the list are sent", async () => {
  const source = follow({ tag: "between" });
  expect((await nextOf(source)).kind).toBe("READ_LIST");
  const { requestId } = await submit("between");
  const listed = await running.graphql('{ requests(filter: { tag: "between" }) { nodes { requestId } } }');
  expect(listed.body.data.requests.nodes).toEqual([{ requestId }]);
  expect(await nextOf(source)).toMatchObject({ kind: "CHANGED", requestId });
  await source.return?.();
});

test("a list of another tenant gets nothing", async () => {
  const other = await bearer(running.store, ["read"], { tenant: "other" });
  const owner = await bearer(running.store, ["admin"], { tenant: "owner" });
  const [theirs, own] = [follow({ tag: "tenant" }, other), follow({ tag: "tenant" }, owner)];
  await Promise.all([nextOf(theirs), nextOf(own)]);
  const { requestId } = await submit("tenant", owner);
  expect(await nextOf(own)).toMatchObject({ requestId });
  const received = theirs.next();
  const quiet = new Promise((resolve) => setTimeout(() => resolve("nothing"), 700));
  expect(await Promise.race([received, quiet])).toBe("nothing");
  await Promise.all([theirs.return?.(), own.return?.()]);
});

test("a key without the scope read cannot follow a list", async () => {
  const headers = await bearer(running.store, ["execute"]);
  await expect(follow({}, headers).next()).rejects.toMatchObject([{ extensions: { code: "FORBIDDEN" } }]);
});

test("a contradictory filter is refused with its argument", async () => {
  const filter = { createdFrom: "2026-01-02T00:00:00Z", createdBefore: "2026-01-01T00:00:00Z" };
  const [error] = await follow(filter)
    .next()
    .then(
      ({ value }) => value?.errors ?? [],
      (errors: unknown) => errors as { extensions: object }[],
    );
  expect(error?.extensions).toMatchObject({ code: "BAD_USER_INPUT", argument: "filter.createdBefore" });
});

test("lists and requests share one change stream, one read of each change, and the slots for subscriptions", async () => {
  const { store } = running;
  const opened: ChangeListener[] = [];
  const watch = store.watchChanges.bind(store);
  const watched = vi.spyOn(store, "watchChanges").mockImplementation((listener) => {
    opened.push(listener);
    return watch(listener);
  });
  const read = vi.spyOn(store, "readChanged");
  onTestFinished(() => {
    watched.mockRestore();
    read.mockRestore();
  });
  // Subscriptions of earlier tests may still be ending.
  const open = async () => /subscriptions_open\S* (\d+)/.exec((await running.send("/metrics")).text)?.[1];
  await expect.poll(open).toBe("0");
  const { requestId, planId } = await submit("shared");
  const client = webSocketClient(running.api.url);
  const sources = Array.from({ length: 19 }, (_, index): Source => {
    const filter = { tag: "shared", ...(index % 2 === 0 && { createdFrom: "2020-01-01T00:00:00Z" }) };
    return client.iterate({ query: LIST, variables: { filter } });
  });
  await Promise.all(sources.map(nextOf));
  const one = client.iterate({
    query: "subscription ($id: ID!) { requestUpdated(requestId: $id) { status } }",
    variables: { id: requestId },
  });
  await one.next();
  expect(opened).toHaveLength(1);
  const refused = client.iterate({ query: LIST }).next();
  const code = await refused.then(
    ({ value }) => value?.errors,
    (errors: unknown) => errors,
  );
  expect(code).toMatchObject([{ extensions: { code: "OVERLOADED", retryAfterMs: 5000 } }]);
  read.mockClear();
  await executeAs(store, planId as never);
  const hasEnded = ({ request }: Change) => request?.status === "COMPLETED";
  await Promise.all(sources.map((source) => until(source, hasEnded)));
  expect(read.mock.calls.length).toBeLessThanOrEqual(5);
  expect(opened).toHaveLength(1);
  opened[0]?.onGap();
  for (const source of sources) await until(source, ({ kind }) => kind === "READ_LIST");
  await Promise.all([one.return?.(), ...sources.map((source) => source.return?.())]);
});

test("a service that stops ends followed lists with a final message", async () => {
  const other = await startTestApi();
  const source = webSocketClient(other.api.url).iterate({ query: LIST });
  await source.next();
  const end = source.next();
  await other.close();
  expect(await end).toMatchObject({ done: true });
});
