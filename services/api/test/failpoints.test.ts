/**
 * The API dies, is suspended, or fails at every failpoint where a write, an offer or an acknowledgement begins
 * or ends. A client that retries with the same idempotency key gets one request, and its operation happens
 * once. `npm test` kills once in each operation; `npm run proof` does the rest.
 */
import { parsePlan } from "@planwright/plan";
import { createStore, type Store } from "@planwright/store";
import { bundledServices, testAndProof, testServers } from "@planwright/testing";
import { test } from "vitest";
import { z } from "zod";
import { addressOf, startApi, startApiProcess } from "./api-process.ts";

const TENANT = "default";
const STEPS = [{ id: "a", tool: "noop", arguments: {} }];

/** The operation of the client that reaches the failpoint. */
type Ask = (store: Store) => Promise<{ query: string; variables: object }>;

const create: Ask = async () => ({
  query:
    'mutation($key: String!) { done: createPlan(query: "x", execute: true, idempotencyKey: $key) { requestId } }',
  variables: { key: "k1" },
});
const submit: Ask = async () => ({
  query:
    "mutation($plan: JSON!, $key: String!) { done: submitPlan(plan: $plan, execute: true, idempotencyKey: $key) { requestId } }",
  variables: { plan: { steps: STEPS }, key: "k1" },
});
const onReady =
  (mutation: string): Ask =>
  async (store) => {
    const parsed = parsePlan({ steps: STEPS });
    if (!parsed.ok) throw new TypeError("the plan is not valid");
    const { plan } = parsed;
    const { request } = await store.submitPlan({
      tenant: TENANT,
      query: null,
      plan,
      raw: "",
      diagnostics: [],
      autoExecute: false,
    });
    return {
      query: `mutation($id: ID!) { done: ${mutation}(requestId: $id) { requestId } }`,
      variables: { id: request._id },
    };
  };

const FAILPOINTS: Record<string, { ask: Ask; request: string; plan: string | undefined }> = {
  "api.accept": { ask: create, request: "PLANNING", plan: undefined },
  "api.offer-planning": { ask: create, request: "PLANNING", plan: undefined },
  "api.submit": { ask: submit, request: "EXECUTING", plan: "QUEUED" },
  "api.offer-execution": { ask: submit, request: "EXECUTING", plan: "QUEUED" },
  "api.queue": { ask: onReady("executePlan"), request: "EXECUTING", plan: "QUEUED" },
  "api.cancel": { ask: onReady("cancel"), request: "CANCELLED", plan: "CANCELLED" },
};
const CASES = Object.entries(FAILPOINTS).flatMap(([failpoint, expected]) =>
  ["before", "after"].flatMap((side) =>
    ["kill", "pause:1500", "error"].map((action) => ({
      setting: `${failpoint}.${side}=${action}`,
      ...expected,
    })),
  ),
);

const IN_TEST = [
  "api.accept.after=kill",
  "api.submit.before=kill",
  "api.submit.after=kill",
  "api.queue.after=kill",
  "api.cancel.after=kill",
];

for (const { cases, options } of testAndProof(CASES, ({ setting }) => setting, IN_TEST))
  test.concurrent.for(cases)(
    "$setting: one request after a retry",
    options,
    async ({ setting, ask, ...expected }, { expect, onTestFinished }) => {
      const { mongodbUrl, redisUrl, redisPrefix } = testServers();
      // Many tests create their indexes at once on a busy machine.
      const store = await createStore({ url: mongodbUrl, timeoutMs: 60_000 });
      onTestFinished(() => store.close());
      const tool = { name: "noop", server: "s", inputSchema: { type: "object" } };
      await store.publishTools("s", [{ descriptor: tool, digest: "0".repeat(64) }]);
      const operation = await ask(store);

      const servers = { MONGODB_URL: mongodbUrl, REDIS_URL: redisUrl, QUEUE_PREFIX: redisPrefix };
      let log = "";
      const onOutput = (text: string): void => {
        log += text;
      };
      const start = (env: Record<string, string> = {}): Promise<string> =>
        startApi({ ...servers, ...env }, onTestFinished, onOutput);
      /** An API that the failpoint kills or freezes. */
      const spawn = (env: Record<string, string>): Promise<string> => {
        // Bundling stops this process: not while it waits for the API.
        bundledServices("api", "in-process");
        const victim = startApiProcess({ ...servers, ...env }, onTestFinished);
        victim.stderr?.on("data", (chunk: Buffer) => onOutput(chunk.toString()));
        return addressOf(victim);
      };
      const victim = { FAILPOINT: setting };
      const url = await (setting.endsWith("error") ? start(victim) : spawn(victim));
      const requestId = (await post(url, operation)) ?? (await post(await start(), operation));
      expect(log).toContain(`failpoint ${setting}`);
      expect(requestId).toMatch(/^req_/);

      const { items } = await store.listRequests(TENANT, { first: 10 });
      expect(items).toMatchObject([{ _id: requestId, status: expected.request }]);
      const plans = await Promise.all(items.map(({ planId }) => store.getPlan(TENANT, planId)));
      expect(plans[0]?.status).toBe(expected.plan);
    },
  );

const AnswerSchema = z.object({
  data: z.object({ done: z.object({ requestId: z.string() }).nullish() }).nullish(),
});

/** The id in the answer; null if the connection broke or an error came. */
async function post(url: string, body: object): Promise<string | null> {
  const headers = { "content-type": "application/json" };
  try {
    const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
    return AnswerSchema.parse(await response.json()).data?.done?.requestId ?? null;
  } catch {
    return null; // the process died under the request: the client retries
  }
}
