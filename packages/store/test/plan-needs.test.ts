/** The `needs` of a plan follow the journal, after any loss. */
import { randomUUID } from "node:crypto";
import { type JournalEvent, waitedForPeopleMs } from "@planwright/engine";
import { type PlanId, parsePlan, type RequestId, type StepStatus } from "@planwright/plan";
import type { PlanClaim, RequestNeed, UnitDecisions, UnitRecord } from "@planwright/store";
import {
  createMemoryDatabase,
  createMemoryStore,
  type Reach,
  UnreachableError,
} from "@planwright/store/memory";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type OpenStore, STORES } from "./open-stores.ts";

const TENANT = "t1";
const LOST = { code: "EXECUTOR_LOST", message: "lost", retryable: false };
let opened: Omit<OpenStore, "plansOf">;
let store: OpenStore["store"];

/** A claimed plan of two steps. */
async function held(): Promise<PlanClaim> {
  const parsed = parsePlan(["a", "b"].map((id) => ({ id, tool: id, arguments: {} })));
  if (!parsed.ok) throw new TypeError("the plan is not valid");
  const input = { tenant: TENANT, query: null, raw: "", diagnostics: [], autoExecute: true };
  const { plan } = await store.submitPlan({ ...input, plan: parsed.plan });
  return claimed(plan._id, "e1");
}

async function claimed(planId: PlanId, owner: string): Promise<PlanClaim> {
  await opened.change("plans", planId, { dueAt: new Date(0) });
  const claim = await store.claimPlan(planId, owner);
  if (!claim) throw new TypeError("nothing to claim");
  return claim;
}

const record = (key: string, status: StepStatus): UnitRecord => ({
  key,
  stepId: key,
  status,
  attempts: 0,
  ...(status === "IN_DOUBT" && { error: LOST }),
});
const changed = (key: string, status: StepStatus): JournalEvent => ({
  type: "step.changed",
  key,
  stepId: key,
  status,
});
const retry = (key: string): UnitDecisions => ({
  by: "operator",
  decisions: [{ key, resolution: { type: "retry" } }],
});

/** Notes the call of a step; its record and end are those of a call that failed. */
function failed(claim: PlanClaim, key: string, effect: "none" | "possible") {
  const call = { key, stepId: key, attempt: 1, tool: key, arguments: {}, timeoutMs: 1_000 };
  const attemptId = `try-${key}`;
  store.noteIntents(claim, [{ call: { ...call, effectClass: "U", mayAct: true }, attemptId, argsHash: "h" }]);
  const error = { code: "TOOL_FAILED", message: "sold out", retryable: false };
  const end = { key, attemptId, endedAtMs: store.now(), durationMs: 1, outcome: "failed" as const };
  return [[{ ...record(key, "FAILED"), error }], [{ ...end, error, effect }]] as const;
}

/** The filters that find the request. */
async function foundBy(requestId: RequestId): Promise<RequestNeed[]> {
  const found: RequestNeed[] = [];
  for (const needs of ["approval", "doubt", "answer"] as const) {
    const { items } = await store.listRequests(TENANT, { first: 100, filter: { needs } });
    if (items.some(({ _id }) => _id === requestId)) found.push(needs);
  }
  return found;
}

describe.each(STORES)("in a store on $name", ({ open }) => {
  beforeEach(async () => {
    opened = await open();
    ({ store } = opened);
  });
  afterEach(() => opened.close());

  test("a request is found by the needs of its units, as long as they have them", async () => {
    const claim = await held();
    const { requestId } = claim.plan;
    expect(await foundBy(requestId)).toEqual([]);
    await store.writeRecords(claim, [record("a", "WAITING_APPROVAL")], []);
    expect(await foundBy(requestId)).toEqual(["approval"]);
    await store.writeRecords(claim, [record("b", "IN_DOUBT")], []);
    expect(await foundBy(requestId)).toEqual(["approval", "doubt"]);
    await store.writeRecords(claim, [record("a", "SKIPPED")], []);
    expect(await foundBy(requestId)).toEqual(["doubt"]);
    await store.writeRecords(claim, [record("b", "PENDING")], []);
    expect(await foundBy(requestId)).toEqual([]);
  });

  test("a plan has the time since when it has needed a person, also after its end, until it needs none", async () => {
    const claim = await held();
    const { _id: planId } = claim.plan;
    const since = async () => (await store.getPlan(TENANT, planId))?.needsSince ?? null;
    expect(await since()).toBeNull();
    await store.writeRecords(claim, [record("a", "WAITING_APPROVAL")], []);
    const first = await since();
    expect(first).toBeInstanceOf(Date);
    await store.writeRecords(claim, [record("b", "IN_DOUBT")], []);
    await store.writeRecords(claim, [record("a", "SKIPPED")], []);
    const end = { type: "finish", status: "CANCELLED", outputs: {} } as const;
    await store.finishPlan(claim, end);
    expect(await since()).toEqual(first);
    await store.resolveUnits(TENANT, planId, retry("b"));
    expect(await since()).toBeNull();

    const other = await held();
    await store.finishPlan(other, end, { records: [record("a", "IN_DOUBT")], ends: [] });
    const ended = await store.getPlan(TENANT, other.plan._id);
    expect(ended?.needsSince).toEqual(ended?.finishedAt);
  });

  test.each([
    ["an approval", "approval"],
    ["an approval while a step waits for its next try", "backoff"],
    ["an approval and a doubt", "in doubt"],
  ] as const)(
    "a plan that waits for %s, and is paused, is due when the approval expires",
    async (_, reason) => {
      const claim = await held();
      const expiresAt = 9_000_000_000_000;
      const { _id: planId } = claim.plan;
      await store.writeRecords(claim, [{ ...record("a", "WAITING_APPROVAL"), expiresAt }], []);
      await store.releasePlan(claim, { status: "WAITING", reason, dueAtMs: expiresAt });
      const paused = await store.requestPause(TENANT, planId, "ann");
      expect(paused).toMatchObject({ status: "PAUSED", dueAt: new Date(expiresAt) });
    },
  );

  test("a plan has the time when the first of its open approvals expires, while others of its steps run", async () => {
    const claim = await held();
    const until = async () => (await store.getPlan(TENANT, claim.plan._id))?.approvalUntil ?? null;
    const waits = (key: string, expiresAt: number) => ({ ...record(key, "WAITING_APPROVAL"), expiresAt });
    await store.writeRecords(claim, [waits("a", 9_000_000_000_000)], []);
    expect(await until()).toEqual(new Date(9_000_000_000_000));
    await store.writeRecords(claim, [waits("b", 8_000_000_000_000)], []);
    expect(await until()).toEqual(new Date(8_000_000_000_000));
    await store.writeRecords(claim, [record("b", "SKIPPED")], []);
    expect(await until()).toEqual(new Date(9_000_000_000_000));
    await store.writeRecords(claim, [record("a", "SKIPPED")], []);
    expect(await until()).toBeNull();
  });

  test("a plan that has ended says how long it had waited for people, as its journal does", async () => {
    const claim = await held();
    const { _id: planId } = claim.plan;
    await store.writeRecords(claim, [record("a", "WAITING_APPROVAL")], []);
    const due = { status: "WAITING", reason: "approval", dueAtMs: null } as const;
    await store.releasePlan(claim, due);
    const { requestId } = claim.plan;
    const [seq] = await store.readLastSeqs(TENANT, [requestId]);
    const hourAgo = new Date(store.now() - 3_600_000);
    await opened.change("journal", `${requestId}/${String(seq).padStart(8, "0")}`, { at: hourAgo });
    const again = await claimed(planId, "e2");
    await store.finishPlan(again, { type: "finish", status: "CANCELLED", outputs: {} });
    const waitedMs = (await store.getPlan(TENANT, planId))?.waitedForPeopleMs;
    expect(waitedMs).toBeGreaterThanOrEqual(3_600_000);
    const read = await store.readUnits(TENANT, planId);
    expect(waitedForPeopleMs(read?.plan ?? { waits: [] }, new Date())).toBe(waitedMs);
  });

  test("a plan counts the units that failed after a call that may have acted, while it runs and at its end", async () => {
    const claim = await held();
    const count = async () => (await store.getPlan(TENANT, claim.plan._id))?.mayHaveActed ?? 0;
    await store.writeRecords(claim, ...failed(claim, "a", "none"));
    expect(await count()).toBe(0);
    const [records, ends] = failed(claim, "b", "possible");
    await store.writeRecords(claim, records, ends);
    expect(await count()).toBe(1);
    await opened.change("plans", claim.plan._id, { mayHaveActed: null });
    await store.finishPlan(claim, { type: "finish", status: "FAILED", outputs: {} });
    expect(await count()).toBe(1);
  });

  test("doubts are kept after the end of a plan, until an operator has settled all of them", async () => {
    const claim = await held();
    const { requestId, _id } = claim.plan;
    const records = [record("a", "IN_DOUBT"), record("b", "IN_DOUBT")];
    const end = { type: "finish", status: "CANCELLED", outputs: {} } as const;
    await store.finishPlan(claim, end, { records, ends: [] });
    expect(await foundBy(requestId)).toEqual(["doubt"]);
    await store.resolveUnits(TENANT, _id, retry("a"));
    expect(await foundBy(requestId)).toEqual(["doubt"]);
    await store.resolveUnits(TENANT, _id, retry("b"));
    expect(await foundBy(requestId)).toEqual([]);
  });

  test("doubts that are settled at the same time leave no need", async () => {
    const claim = await held();
    const records = [record("a", "IN_DOUBT"), record("b", "IN_DOUBT")];
    const end = { type: "finish", status: "CANCELLED", outputs: {} } as const;
    await store.finishPlan(claim, end, { records, ends: [] });
    await Promise.all(["a", "b"].map((key) => store.resolveUnits(TENANT, claim.plan._id, retry(key))));
    expect(await foundBy(claim.plan.requestId)).toEqual([]);
  });

  test("a claim writes the needs that the previous owner had appended but not written", async () => {
    const first = await held();
    const { requestId, _id } = first.plan;
    await first.journal.append([changed("a", "WAITING_APPROVAL")]);
    expect(await foundBy(requestId)).toEqual([]);
    const second = await claimed(_id, "e2");
    expect(await foundBy(requestId)).toEqual(["approval"]);
    await second.journal.append([changed("a", "CANCELLED")]);
    expect(await foundBy(requestId)).toEqual(["approval"]);
    await claimed(_id, "e3");
    expect(await foundBy(requestId)).toEqual([]);
  });

  test("a claim counts the calls that may have acted, which the previous owner had only appended", async () => {
    const first = await held();
    const { _id } = first.plan;
    store.noteRecords(first, ...failed(first, "a", "possible"));
    await store.writeNoted(first);
    expect((await store.getPlan(TENANT, _id))?.mayHaveActed ?? 0).toBe(0);
    await claimed(_id, "e2");
    expect((await store.getPlan(TENANT, _id))?.mayHaveActed).toBe(1);
  });
});

test("a decision about a plan that has ended is in the journal and in what the plan needs, or in neither", async () => {
  const database = createMemoryDatabase();
  let isCut = false;
  const cut: Reach = async ({ name, apply }) => {
    if (isCut && name === "transaction.commit") throw new UnreachableError("lost");
    return apply();
  };
  const api = createMemoryStore({ database, owner: randomUUID(), reach: cut, retryForMs: 0 });
  store = createMemoryStore({ database, owner: randomUUID() });
  opened = {
    store,
    change: async () => undefined,
    remove: async () => undefined,
    close: async () => undefined,
  };
  const claim = await held();
  const end = { type: "finish", status: "CANCELLED", outputs: {} } as const;
  await store.finishPlan(claim, end, { records: [record("a", "IN_DOUBT")], ends: [] });
  isCut = true;
  await expect(api.resolveUnits(TENANT, claim.plan._id, retry("a"))).rejects.toThrow();
  expect(await foundBy(claim.plan.requestId)).toEqual(["doubt"]);
  isCut = false;
  expect(await api.resolveUnits(TENANT, claim.plan._id, retry("a"))).toMatchObject({ type: "recorded" });
  expect(await foundBy(claim.plan.requestId)).toEqual([]);
});

describe("a decision of an operator", () => {
  const HASH = "a".repeat(64);
  const approve = (approved: boolean) => ({
    stepId: "a",
    approved,
    approvalHash: HASH,
    reason: null,
    by: "operator",
  });
  /** Reads of the journal by the process that takes the decisions. */
  let journalReads: string[];
  let api: OpenStore["store"];
  let claim: PlanClaim;

  /** A plan whose step "a" waits for approval, and "b" is in doubt. */
  beforeEach(async () => {
    const database = createMemoryDatabase();
    journalReads = [];
    const counted: Reach = async ({ name, apply }) => {
      if (name.startsWith("journal.read")) journalReads.push(name);
      return apply();
    };
    store = createMemoryStore({ database, owner: randomUUID() });
    api = createMemoryStore({ database, owner: randomUUID(), reach: counted });
    opened = {
      store,
      async change(collection, id, fields) {
        database.update(collection, { _id: id }, { set: fields, isPipeline: false });
      },
      remove: async () => undefined,
      close: async () => undefined,
    };
    claim = await held();
    const asked = { arguments: {}, argsHash: "b".repeat(64), approvalHash: HASH };
    const records = [{ ...record("a", "WAITING_APPROVAL"), ...asked }, record("b", "IN_DOUBT")];
    await store.writeRecords(claim, records, []);
  });

  /** The owner takes the decisions into the journal, and removes them from the plan's document. */
  async function takeControls(): Promise<void> {
    await store.applyControls([claim]);
    await claim.journal.append([]);
    await store.applyControls([claim]);
    expect(await store.getPlan(TENANT, claim.plan._id)).toMatchObject({ controls: [] });
  }

  test("is accepted without reading the journal while the plan's document says that the unit waits", async () => {
    const { _id } = claim.plan;
    expect(await api.approveStep(TENANT, _id, approve(true))).toMatchObject({ type: "recorded" });
    expect(await api.resolveUnits(TENANT, _id, retry("b"))).toMatchObject({ type: "recorded" });
    expect(journalReads).toEqual([]);
  });

  test("is accepted in the same way after the owner has taken an earlier one into the journal", async () => {
    const { _id } = claim.plan;
    await api.approveStep(TENANT, _id, approve(true));
    await takeControls();
    expect(await api.resolveUnits(TENANT, _id, retry("b"))).toMatchObject({ type: "recorded" });
    expect(journalReads).toEqual([]);
  });

  test.each([
    { where: "in the plan's document", take: async () => undefined },
    { where: "in the journal", take: takeControls },
    {
      where:
        "in the journal, and taken out of the document by an executor that does not know which units wait",
      async take() {
        const before = await store.getPlan(TENANT, claim.plan._id);
        await takeControls();
        await opened.change("plans", claim.plan._id, { undecided: before?.undecided });
      },
    },
  ])("is not accepted after another one that is $where", async ({ take }) => {
    const { _id } = claim.plan;
    await api.approveStep(TENANT, _id, approve(true));
    await api.resolveUnits(TENANT, _id, retry("b"));
    await take();
    expect(await api.approveStep(TENANT, _id, approve(false))).toMatchObject({ type: "decided" });
    expect(await api.resolveUnits(TENANT, _id, retry("b"))).toMatchObject({ type: "decided" });
    expect(await store.getPlan(TENANT, _id)).toMatchObject({ controlSeq: 2 });
  });

  test("is accepted by the journal for a plan whose document does not say which units wait", async () => {
    await opened.change("plans", claim.plan._id, { undecided: null });
    expect(await api.approveStep(TENANT, claim.plan._id, approve(true))).toMatchObject({ type: "recorded" });
    expect(journalReads).not.toEqual([]);
  });
});
