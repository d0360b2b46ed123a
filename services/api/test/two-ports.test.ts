/** Clients that plan at one port and execute at another, as with the former two services. */
import { eventually } from "@planwright/testing";
import { expect, onTestFinished, test } from "vitest";
import { startTestApi } from "./running-api.ts";
import { AUTHOR, acceptedRequest, executeAs, planAs } from "./workers.ts";

test("executeByRequestId at one port executes a plan of createPlanWithRequestId at the other", async () => {
  const { api, store, close } = await startTestApi({ ports: [0, 0] });
  onTestFinished(close);
  const [planning, execution] = api.ports;
  expect(planning).not.toBe(execution);
  const post = async (
    port: number | undefined,
    query: string,
    variables: object,
  ): Promise<ReturnType<typeof JSON.parse>> => {
    const headers = { "content-type": "application/json" };
    const init = { method: "POST", headers, body: JSON.stringify({ query, variables }) };
    return (await fetch(`http://127.0.0.1:${port}/graphql`, init)).json();
  };
  const planned = post(
    planning,
    "mutation ($query: String!) { createPlanWithRequestId(query: $query) { requestId planId executionState } }",
    { query: "at two ports" },
  );
  await planAs(store, await acceptedRequest(store, "at two ports"));
  const { requestId, planId, executionState } = (await planned).data.createPlanWithRequestId;
  expect(executionState).toBe("pending");
  const executed = post(
    execution,
    "mutation ($id: ID!) { executeByRequestId(requestId: $id) { planId executionState outputs } }",
    { id: requestId },
  );
  await eventually(async () => (await store.getPlan("default", planId))?.queuedAt);
  await executeAs(store, planId);
  const done = (await executed).data.executeByRequestId;
  expect(done).toMatchObject({ planId, executionState: "completed" });
  expect(JSON.parse(done.outputs)).toMatchObject({ createAuthor: AUTHOR });
});
