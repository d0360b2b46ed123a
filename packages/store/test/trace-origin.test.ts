import { type Plan, parsePlan } from "@planwright/plan";
import { createStore, type Store } from "@planwright/store";
import { testServers } from "@planwright/testing";
import { afterAll, beforeAll, expect, test } from "vitest";

let store: Store;

beforeAll(async () => {
  store = await createStore({ url: testServers().mongodbUrl });
});
afterAll(async () => {
  await store.close();
});

const TENANT = "t1";
const trace = {
  traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
  tracestate: "vendor=value",
};

function onePlan(): Plan {
  const parsed = parsePlan([{ id: "a", tool: "a", arguments: {} }]);
  if (!parsed.ok) throw new TypeError(JSON.stringify(parsed.diagnostics));
  return parsed.plan;
}

const submit = (origin?: typeof trace) =>
  store.submitPlan({
    tenant: TENANT,
    query: null,
    plan: onePlan(),
    raw: "",
    diagnostics: [],
    autoExecute: true,
    trace: origin,
  });

test("a claimed request, its plan and a rerun have the trace in which the request was accepted", async () => {
  const asked = await store.createRequest({ tenant: TENANT, query: "do a", autoExecute: true, trace });
  const planning = (await store.claimRequest(asked._id, "p1"))!;
  expect(planning.request.trace).toEqual(trace);
  const origin = { kind: "offline" as const, model: null };
  const planned = await store.completePlanning(planning, {
    plan: onePlan(),
    raw: null,
    origin,
    diagnostics: [],
  });
  const claim = (await store.claimPlan(planned._id, "e1"))!;
  expect(claim.plan.trace).toEqual(trace);
  await store.finishPlan(claim, { type: "finish", status: "CANCELLED", outputs: {} });
  const rerun = await store.rerunPlan(TENANT, asked._id, { from: null, autoExecute: true });
  expect(rerun).toMatchObject({ type: "rerun", request: { trace }, plan: { version: 2, trace } });
});

test("a request that is not traced has no such field", async () => {
  const { request, plan } = await submit();
  expect(await store.getRequest(TENANT, request._id)).not.toHaveProperty("trace");
  expect(await store.getPlan(TENANT, plan._id)).not.toHaveProperty("trace");
  expect((await submit(trace)).plan.trace).toEqual(trace);
});
