import { parsePlan } from "@planwright/plan";
import { createStore } from "@planwright/store";
import { testServers } from "@planwright/testing";
import { expect, onTestFinished, test } from "vitest";

test("close waits for the documents that follow from entries that are being appended", async () => {
  const url = testServers().mongodbUrl;
  const [store, other] = [await createStore({ url }), await createStore({ url })];
  onTestFinished(() => other.close());
  const parsed = parsePlan([{ id: "a", tool: "a", arguments: {} }]);
  if (!parsed.ok) throw new TypeError(JSON.stringify(parsed.diagnostics));
  const submission = {
    tenant: "t1",
    query: null,
    plan: parsed.plan,
    raw: "",
    diagnostics: [],
    autoExecute: true,
  };
  const claims = await Promise.all(
    [1, 2, 3].map(async () => (await store.claimPlan((await store.submitPlan(submission)).plan._id, "e1"))!),
  );
  const ends = claims.map((claim) =>
    store.finishPlan(claim, { type: "finish", status: "COMPLETED", outputs: {} }),
  );
  await store.close();
  await Promise.all(ends);
  const plans = await other.getPlanHeads(
    "t1",
    claims.map(({ plan }) => plan._id),
  );
  expect(plans.map((plan) => plan?.status)).toEqual(["COMPLETED", "COMPLETED", "COMPLETED"]);
});
