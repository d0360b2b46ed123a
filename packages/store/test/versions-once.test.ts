/** Reruns and replans under an idempotency key, in every store. */
import { parsePlan, type RequestId } from "@planwright/plan";
import { IdempotencyKeyReusedError } from "@planwright/store";
import { describe, expect, onTestFinished, test } from "vitest";
import { type OpenStore, STORES } from "./open-stores.ts";

const SENTENCE = { query: "do a", autoExecute: true };
const key = (name: string, payloadHash = "p") => ({ key: name, payloadHash });

describe.each(STORES)("with $name", ({ open }) => {
  /** An empty store with a request whose plan failed. */
  async function failed(tenant = "t1"): Promise<{ store: OpenStore["store"]; requestId: RequestId }> {
    const { store, close } = await open();
    onTestFinished(close);
    return { store, requestId: await failedIn(store, tenant) };
  }

  async function failedIn(store: OpenStore["store"], tenant = "t1"): Promise<RequestId> {
    const parsed = parsePlan([{ id: "a", tool: "a", arguments: {} }]);
    if (!parsed.ok) throw new TypeError(JSON.stringify(parsed.diagnostics));
    const { plan: document } = parsed;
    const asked = { tenant, ...SENTENCE, plan: document, raw: "", diagnostics: [] };
    const { request, plan } = await store.submitPlan(asked);
    const claim = (await store.claimPlan(plan._id, "e1"))!;
    await store.writeRecords(claim, [{ key: "a", stepId: "a", status: "FAILED", attempts: 1 }], []);
    await store.finishPlan(claim, { type: "finish", status: "FAILED", outputs: {} });
    return request._id;
  }

  const CHANGES = {
    rerun: (store: OpenStore["store"], id: RequestId, more: object, tenant = "t1") =>
      store.rerunPlan(tenant, id, { from: null, autoExecute: true, ...more }),
    replan: (store: OpenStore["store"], id: RequestId, more: object, tenant = "t1") =>
      store.requestReplan(tenant, id, { note: null, execute: true, ...more }),
  };
  const DONE = { rerun: "rerun", replan: "replanning" } as const;

  describe.each(["rerun", "replan"] as const)("%s", (operation) => {
    const ask = CHANGES[operation];

    test("under a used key changes nothing, and returns the current request", async () => {
      const { store, requestId } = await failed();
      const first = await ask(store, requestId, { idempotency: key("k") });
      expect(first.type).toBe(DONE[operation]);
      const now = await store.getRequest("t1", requestId);
      expect(await ask(store, requestId, { idempotency: key("k") })).toEqual({
        type: "repeated",
        request: now,
      });
      expect(await store.getRequest("t1", requestId)).toEqual(now);
    });

    test("under a key of another change is refused", async () => {
      const { store, requestId } = await failed();
      await ask(store, requestId, { idempotency: key("k") });
      const other = ask(store, requestId, { idempotency: key("k", "other") });
      await expect(other).rejects.toBeInstanceOf(IdempotencyKeyReusedError);
      await expect(other).rejects.toMatchObject({ facts: { requestId } });
    });

    test("that changed nothing does not use its key", async () => {
      const { store, requestId } = await failed();
      const idempotency = key("k");
      expect(await ask(store, requestId, { idempotency, fromVersion: 2 })).toMatchObject({
        type: "other version",
        request: { version: 1 },
      });
      const now = await ask(store, requestId, { idempotency, fromVersion: 1 });
      expect(now.type).toBe(DONE[operation]);
    });

    test("sent several times at once under one key is done once, and each call gets an answer", async () => {
      const { store, requestId } = await failed();
      const sent = Array.from({ length: 12 }, () => ask(store, requestId, { idempotency: key("k") }));
      const types = (await Promise.all(sent)).map(({ type }) => type);
      expect(types.filter((type) => type === DONE[operation])).toHaveLength(1);
      expect(types.filter((type) => type === "repeated")).toHaveLength(11);
    });

    test("keys belong to their tenant", async () => {
      const { store, requestId } = await failed();
      const theirs = await failedIn(store, "t2");
      await ask(store, requestId, { idempotency: key("k") });
      const answer = await ask(store, theirs, { idempotency: key("k") }, "t2");
      expect(answer).toMatchObject({ type: DONE[operation], request: { _id: theirs } });
    });
  });

  test("keys of a submission, a rerun and a replan are separate", async () => {
    const { store, requestId } = await failed();
    const idempotency = key("k");
    const created = await store.createRequest({ tenant: "t1", ...SENTENCE, idempotency });
    expect(created._id).not.toBe(requestId);
    expect((await CHANGES.rerun(store, requestId, { idempotency })).type).toBe("rerun");
    const other = await failedIn(store);
    expect((await CHANGES.replan(store, other, { idempotency })).type).toBe("replanning");
  });
});
