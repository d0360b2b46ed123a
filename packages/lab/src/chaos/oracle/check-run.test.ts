import { expect, test } from "vitest";
import type { Evidence, ViolationKind } from "../evidence.ts";
import { checkRun } from "./check-run.ts";
import {
  changesOf,
  effect,
  entryOf,
  evidence,
  GOOD_HISTORY,
  OWNER,
  PLAN_ID,
  planOf,
  REQUEST_ID,
  STALE_OWNER,
  step,
  TENANT,
} from "./evidence.fixture.ts";

const A = `${PLAN_ID}/a`;
const B = `${PLAN_ID}/b`;
const ITEM = `${PLAN_ID}/a[0]`;
const B_EFFECT = effect({ step: "b", effect: 2, from: 1 });
/** The good history with writes after it, or at a position in it. */
const after = (...writes: Parameters<typeof changesOf>) => [...GOOD_HISTORY, ...changesOf(...writes)];
const before = (position: number, ...writes: Parameters<typeof changesOf>) =>
  GOOD_HISTORY.toSpliced(position, 0, ...changesOf(...writes));

test("a run in which nothing went wrong passes", () => {
  expect(checkRun(evidence())).toEqual({
    violations: [],
    counts: {
      lost: 0,
      duplicated: 0,
      unfinished: 0,
      regressions: 0,
      staleWrites: 0,
      lists: 0,
      unlikeJournal: 0,
    },
    replays: 0,
    inDoubt: 0,
    passed: true,
  });
});

const requestOf = (_id: string): Evidence["requests"][number] => ({
  source: "plan",
  _id,
  tenant: TENANT,
  planId: PLAN_ID,
  status: "COMPLETED",
  error: null,
});
/** A plan that FAILED or was CANCELLED, with the same status on its request. */
function endedAs(planStatus: "FAILED" | "CANCELLED", found: Partial<Evidence>): Evidence {
  const requests = [{ ...requestOf(REQUEST_ID), status: planStatus }];
  return evidence({ planStatus, requests, ...found });
}

const planted: [title: string, kind: ViolationKind, id: string, found: Partial<Evidence>][] = [
  ["an accepted request that is missing", "lost", REQUEST_ID, { requests: [] }],
  ["an accepted plan that is missing", "lost", PLAN_ID, { plans: [], steps: [], ledger: [] }],
  ["a step without a document", "lost", PLAN_ID, { steps: [step("a", "COMPLETED", 1)], ledger: [effect()] }],
  ["a COMPLETED step without its effect", "lost", B, { ledger: [effect()] }],
  [
    "a COMPLETED step with the effect of another step",
    "lost",
    B,
    { steps: [step("a", "COMPLETED", 1), step("b", "COMPLETED", 9)] },
  ],
  [
    "an effect of a step that is SKIPPED",
    "lost",
    B,
    { steps: [step("a", "COMPLETED", 1), step("b", "SKIPPED")] },
  ],
  [
    "an effect without a record of its step",
    "lost",
    `${PLAN_ID}/z`,
    { ledger: [effect(), B_EFFECT, effect({ step: "z", effect: 3 })] },
  ],
  ["a deleted document", "lost", A, { changes: after({ id: A, type: "delete" }) }],
  ["two effects under one key", "duplicated", A, { ledger: [effect(), effect({ effect: 3 }), B_EFFECT] }],
  [
    "a key that changes with the attempt",
    "duplicated",
    A,
    { ledger: [effect(), effect({ effect: 3, key: `${A}/2` }), B_EFFECT] },
  ],
  [
    "one submission that became two plans",
    "duplicated",
    "0/a",
    { ledger: [effect(), B_EFFECT, effect({ effect: 3, key: "plan_2/a" })] },
  ],
  [
    "a write with an older epoch",
    "staleWrites",
    A,
    { changes: before(6, { id: A, epoch: 3 }, { id: A, epoch: 2 }) },
  ],
  ["a write to a step that has ended", "staleWrites", A, { changes: after({ id: A, writer: OWNER }) }],
  [
    "a write to a plan that has ended",
    "staleWrites",
    PLAN_ID,
    { changes: after({ id: PLAN_ID, status: "RUNNING" }) },
  ],
  [
    "a call before its dependency was COMPLETED",
    "staleWrites",
    B,
    { changes: before(6, { id: B, status: "RUNNING" }) },
  ],
  [
    "a write by an executor that lost the plan",
    "staleWrites",
    A,
    {
      changes: before(6, { id: A, status: "RETRYING", epoch: 1, writer: STALE_OWNER }),
    },
  ],
  [
    "an entry that does not fit the entries before it",
    "staleWrites",
    `${REQUEST_ID}/00000007`,
    { changes: before(6, { id: `${REQUEST_ID}/00000007`, type: "invalid", reason: "a gap" }) },
  ],
  [
    "a new item with an older epoch than its step",
    "staleWrites",
    ITEM,
    { changes: before(6, { id: A, epoch: 2 }, { id: ITEM, type: "insert", epoch: 1, status: "COMPLETED" }) },
  ],
  [
    "a move that the lifecycle of plans does not have",
    "regressions",
    PLAN_ID,
    { changes: before(6, { id: PLAN_ID, status: "WAITING" }, { id: PLAN_ID, status: "QUEUED" }) },
  ],
  [
    "a request that goes back",
    "regressions",
    REQUEST_ID,
    { changes: after({ id: REQUEST_ID, status: "EXECUTING" }) },
  ],
  [
    "a retry with other arguments",
    "regressions",
    A,
    { ledger: [effect(), effect({ effect: 3, argsHash: "others" }), B_EFFECT] },
  ],
  [
    "a call with an output that differs from the recorded one",
    "regressions",
    B,
    { ledger: [effect(), { ...B_EFFECT, arguments: effect({ step: "b", from: 7 }).arguments }] },
  ],
  [
    "a request without the end of its plan",
    "unfinished",
    REQUEST_ID,
    { requests: [{ ...requestOf(REQUEST_ID), status: "EXECUTING", error: null }] },
  ],
  [
    "a request that was not planned",
    "unfinished",
    REQUEST_ID,
    {
      requests: [{ ...requestOf(REQUEST_ID), status: "PLANNING", error: null }],
      plans: [],
    },
  ],
  ["a plan that still runs", "unfinished", PLAN_ID, evidence({ planStatus: "RUNNING" })],
  [
    "a plan that waits for something else than an operator",
    "unfinished",
    PLAN_ID,
    evidence({ planStatus: "WAITING", plan: { waitReason: "backoff" } }),
  ],
  [
    "a plan that waits for an operator without a step in doubt",
    "unfinished",
    PLAN_ID,
    evidence({ planStatus: "WAITING", plan: { waitReason: "in doubt" } }),
  ],
  [
    "a plan that ended long after its deadline",
    "unfinished",
    PLAN_ID,
    evidence({ plan: { finishedAt: new Date(90_001) } }),
  ],
  [
    "a plan that has ended with a step that has not",
    "unfinished",
    B,
    { steps: [step("a", "COMPLETED", 1), step("b", "RUNNING")] },
  ],
  [
    "a COMPLETED plan with a FAILED step",
    "unfinished",
    B,
    { steps: [step("a", "COMPLETED", 1), step("b", "FAILED")] },
  ],
  [
    "doubt about a tool that honours keys, with an answer to each attempt",
    "unfinished",
    B,
    evidence({ planStatus: "FAILED", steps: [step("a", "COMPLETED", 1), step("b", "IN_DOUBT")] }),
  ],
  [
    "an effect of a step that is CANCELLED",
    "lost",
    B,
    endedAs("CANCELLED", { steps: [step("a", "COMPLETED", 1), step("b", "CANCELLED")] }),
  ],
  [
    "an effect of a step that is FAILED, although its record does not say that it may have acted",
    "lost",
    B,
    endedAs("FAILED", { steps: [step("a", "COMPLETED", 1), step("b", "FAILED")] }),
  ],
  [
    "a regression that a client saw",
    "regressions",
    REQUEST_ID,
    { seen: [{ kind: "regressions", id: REQUEST_ID, expected: "", found: "" }] },
  ],
];

planted.push(
  [
    "a submission that was accepted twice",
    "duplicated",
    "req_2",
    { requests: [requestOf(REQUEST_ID), requestOf("req_2")] },
  ],
  [
    "a request of another tenant",
    "lost",
    REQUEST_ID,
    { requests: [{ ...requestOf(REQUEST_ID), tenant: "other" }] },
  ],
  ["a plan of another tenant", "lost", PLAN_ID, evidence({ plan: { tenant: "other" } })],
);

const SECOND_ID = "plan_1700000001_abcdefghij0123456789";
const THIRD_ID = "plan_1700000002_abcdefghij0123456789";
const VERSIONS = [PLAN_ID, SECOND_ID, THIRD_ID];
type Asked = Partial<Evidence["asked"][number]>;
type Unit = Evidence["steps"][number];

/**
 * Three versions of a plan of step `a`, which the first has completed. The second calls it `ar`, and the third is
 * the first again. Both carry it over.
 */
function versions(asked: [Asked, Asked], found: Partial<Evidence> = {}): Evidence {
  const ids = ["a", "ar", "a"];
  const label = { value: { label: "0/a", from: {} } };
  const plans = evidence().plans.flatMap((plan) =>
    VERSIONS.map((_id, index) => {
      const [first] = planOf().steps;
      const steps = first ? [{ ...first, id: ids[index] as typeof first.id, arguments: label }] : [];
      return { ...plan, _id, version: index + 1, plan: { ...planOf(), steps } };
    }),
  );
  const steps = VERSIONS.map((planId, index): Unit => {
    const key = ids[index] ?? "";
    const carried = { carriedFrom: index === 0 ? null : PLAN_ID };
    return { ...step("a", "COMPLETED", 1), _id: `${planId}/${key}`, planId, key, stepId: key, ...carried };
  });
  return evidence({
    plans,
    steps,
    requests: [{ ...requestOf(REQUEST_ID), planId: THIRD_ID }],
    ledger: [effect()],
    calls: [callIn(PLAN_ID)],
    asked: asked.map((one, index) => {
      const [planId = "", storedAs = null] = VERSIONS.slice(index);
      return {
        requestId: REQUEST_ID,
        planId,
        kind: "amend",
        from: null,
        acceptRepeat: [],
        storedAs,
        ...one,
      };
    }),
    changes: [],
    ...found,
  });
}

function callIn(planId: string, key = "a"): Evidence["calls"][number] {
  const { arguments: args } = effect();
  const answer = { answer: "result", endedAt: 1, output: { effect: 1 } } as const;
  return { tool: "keyed_effect", key: `${planId}/${key}`, arguments: args, at: 0, ...answer };
}

const AMENDED: [Asked, Asked] = [{ kind: "amend" }, { kind: "restore" }];
const RETRIED: [Asked, Asked] = [{ kind: "amend" }, { kind: "retry" }];
const changedOutput = versions(RETRIED).steps.map((unit) =>
  unit.planId === THIRD_ID ? { ...unit, output: { effect: 2 } } : unit,
);
planted.push(
  [
    "an amendment that calls a completed step again under another id",
    "duplicated",
    `${SECOND_ID}/ar`,
    versions(AMENDED, { calls: [callIn(PLAN_ID), callIn(SECOND_ID, "ar")] }),
  ],
  [
    "a restored version that calls again what it had completed",
    "duplicated",
    `${THIRD_ID}/a`,
    versions(AMENDED, { calls: [callIn(PLAN_ID), callIn(THIRD_ID)] }),
  ],
  [
    "a repeat for which the client named another step",
    "duplicated",
    `${THIRD_ID}/a`,
    versions([{}, { acceptRepeat: ["b"] }], { calls: [callIn(PLAN_ID), callIn(THIRD_ID)] }),
  ],
  [
    "a bulk retry that calls a completed step again",
    "duplicated",
    `${THIRD_ID}/a`,
    versions(RETRIED, { calls: [callIn(PLAN_ID), callIn(THIRD_ID)] }),
  ],
  [
    "a bulk retry that changes the output of a completed step",
    "lost",
    `${THIRD_ID}/ar`,
    versions(RETRIED, { steps: changedOutput }),
  ],
  [
    "a version that no client asked for",
    "duplicated",
    THIRD_ID,
    versions(AMENDED, { asked: versions(AMENDED).asked.slice(0, 1) }),
  ],
  [
    "an answered amendment that is not stored",
    "unlikeJournal",
    REQUEST_ID,
    versions([{ storedAs: "plan_9" }, {}]),
  ],
);

test("versions that carry a completed step over, or repeat one that the client named, pass", () => {
  expect(checkRun(versions(AMENDED)).violations).toEqual([]);
  const calls = [callIn(PLAN_ID), callIn(THIRD_ID)];
  expect(checkRun(versions([{}, { acceptRepeat: ["a"] }], { calls })).violations).toEqual([]);
});

test.each(planted)("%s is found", (_title, kind, id, found) => {
  const { violations, counts, passed } = checkRun(evidence(found));
  expect(violations).toContainEqual(expect.objectContaining({ kind, id }));
  expect(counts[kind]).toBeGreaterThan(0);
  expect(passed).toBe(false);
});

test.each<[string, Partial<Evidence>]>([
  [
    "a step in doubt with its effect",
    { steps: [step("a", "COMPLETED", 1), step("b", "IN_DOUBT", 2, "plain_effect")] },
  ],
  [
    "a step in doubt without one",
    { steps: [step("a", "COMPLETED", 1), step("b", "IN_DOUBT", 2, "looked_up_effect")], ledger: [effect()] },
  ],
])("%s may wait for an operator, and is counted", (_title, found) => {
  const requests = [{ ...requestOf(REQUEST_ID), status: "EXECUTING" as const }];
  const plan = { waitReason: "in doubt", finishedAt: null };
  expect(checkRun(evidence({ planStatus: "WAITING", plan, requests, ...found }))).toMatchObject({
    violations: [],
    inDoubt: 1,
  });
});

test("a plan that waited for an operator until its deadline is no violation", () => {
  const steps = [step("a", "COMPLETED", 1), step("b", "IN_DOUBT", 2, "plain_effect")];
  const requests = [{ ...requestOf(REQUEST_ID), status: "FAILED" as const }];
  expect(checkRun(evidence({ planStatus: "EXPIRED", steps, requests }))).toMatchObject({
    violations: [],
    inDoubt: 1,
  });
});

test("a plan that waited for a slot of a limited tool until its deadline is no violation", () => {
  const steps = [step("a", "COMPLETED", 1), step("b", "CANCELLED", undefined, "limited_read")];
  const requests = [{ ...requestOf(REQUEST_ID), status: "FAILED" as const }];
  const ledger = [effect()];
  expect(checkRun(evidence({ planStatus: "EXPIRED", steps, requests, ledger }))).toMatchObject({
    violations: [],
  });
});

test("repeated effects of a repeatable tool are replays, and no violation", () => {
  const ledger = [effect({ tool: "set_value" }), effect({ tool: "set_value", effect: 3 }), B_EFFECT];
  const steps = [step("a", "COMPLETED", 1, "set_value"), step("b", "COMPLETED", 2)];
  const run = evidence({ ledger, steps, plan: { plan: planOf("set_value") } });
  expect(checkRun(run)).toMatchObject({ violations: [], replays: 1 });
});

test("a step may fail after its effect when its record says that it may have acted, or be in doubt without an answer", () => {
  const steps = [step("a", "COMPLETED", 1), { ...step("b", "FAILED"), effect: "possible" as const }];
  expect(checkRun(endedAs("FAILED", { steps })).violations).toEqual([]);
  const attempt = { executor: OWNER, startedAt: new Date(0), endedAt: new Date(1), outcome: "unknown" };
  const inDoubt = [step("a", "COMPLETED", 1), { ...step("b", "IN_DOUBT"), attempts: [attempt] }];
  expect(checkRun(endedAs("CANCELLED", { steps: inDoubt })).violations).toEqual([]);
});

test("a request may end without a plan", () => {
  const error = { code: "MODEL_TIMEOUT" };
  const request = { ...requestOf(REQUEST_ID), source: "query" as const, status: "FAILED" as const, error };
  const worker = "host:201:cccccccc";
  const journal = [
    entryOf({
      requestId: REQUEST_ID,
      planId: PLAN_ID,
      seq: 1,
      by: { kind: "planner", id: worker },
      events: [
        { type: "planning.began", worker, epoch: 1, work: "plan", from: null },
        { type: "planning.failed", error: { ...error, message: "No answer" } },
      ],
    }),
  ];
  const found = { requests: [request], plans: [], steps: [], ledger: [], changes: [], journal };
  expect(checkRun(evidence(found)).violations).toEqual([]);
});

test("the last owner may write a step until the next owner has written it", () => {
  const changes = changesOf(
    { id: PLAN_ID, status: "RUNNING", epoch: 1, owner: OWNER },
    { id: A, type: "insert", status: "PENDING", epoch: 1 },
    { id: A, status: "RUNNING", epoch: 1, writer: OWNER },
    { id: PLAN_ID, epoch: 2, owner: STALE_OWNER },
    { id: A, status: "RETRYING", epoch: 1, writer: OWNER },
    { id: A, status: "RUNNING", epoch: 2, writer: STALE_OWNER },
  );
  expect(checkRun(evidence({ changes })).violations).toEqual([]);
  const late = [...changes, ...changesOf({ id: A, status: "RETRYING", epoch: 1, writer: OWNER })];
  expect(checkRun(evidence({ changes: late })).counts.staleWrites).toBe(1);
});

test("a control that was accepted before the end of its plan is settled behind it, and changes nothing else", () => {
  const asked = changesOf(
    { id: PLAN_ID, status: "RUNNING", epoch: 1, owner: OWNER },
    { id: PLAN_ID, fields: ["controlSeq", "cancelRequestedAt", "controls"] },
    { id: PLAN_ID, status: "COMPLETED", fields: ["status", "finishedAt"] },
    { id: PLAN_ID, fields: ["controls"] },
    { id: PLAN_ID, fields: ["dueAt", "writeId"] },
  );
  expect(checkRun(evidence({ changes: asked })).violations).toEqual([]);
  const more = [...asked, ...changesOf({ id: PLAN_ID, fields: ["controls", "outputs"] })];
  expect(checkRun(evidence({ changes: more })).counts.staleWrites).toBe(1);
  const unasked = asked.filter(({ fields }) => !fields.includes("controlSeq"));
  expect(checkRun(evidence({ changes: unasked })).violations).toHaveLength(2);
});
