import type { JournalEvent } from "@planwright/engine";
import type { JsonObject } from "@planwright/plan";
import type { JournalDocument } from "@planwright/store";
import { describe, expect, test } from "vitest";
import type { ClientControl, Evidence, FinalStep, SeenReading } from "../evidence.ts";
import { checkJournal } from "./check-journal.ts";
import { checkRun } from "./check-run.ts";
import {
  entryOf,
  evidence,
  journalsOf,
  listEvidence,
  NEXT_ID,
  PLAN_ID,
  REQUEST_ID,
  STALE_OWNER,
  step,
  WORKER,
} from "./evidence.fixture.ts";
import { replayJournal } from "./replay-journal.ts";

const A = `${PLAN_ID}/a`;
const B = `${PLAN_ID}/b`;
const READING_ID = `${REQUEST_ID} ${PLAN_ID}`;
const entryIdOf = (seq: number): string => `${REQUEST_ID}/0000000${seq}`;
const AT = new Date(2_000);

/** A step that was called once. */
const called = (unit: FinalStep): FinalStep => ({
  ...unit,
  attempts: [{ executor: WORKER, startedAt: AT, endedAt: AT, outcome: "completed" }],
});
const STEPS = [called(step("a", "COMPLETED", 1)), called(step("b", "COMPLETED", 2))];
/** Entry 1 takes the lease, 2 records step `a`, 3 step `b`, 4 the end. */
const JOURNAL = journalsOf(evidence({ steps: STEPS }));
const GOOD = evidence({ steps: STEPS, journal: JOURNAL });

/** The good journal with one more event in an entry, as its last or first event. */
const withEvent = (seq: number, event: JournalEvent, first = false): JournalDocument[] =>
  JOURNAL.map((entry) =>
    entry.seq === seq
      ? { ...entry, events: first ? [event, ...entry.events] : [...entry.events, event] }
      : entry,
  );
const without = (seq: number, type: JournalEvent["type"]): JournalDocument[] =>
  JOURNAL.map((entry) =>
    entry.seq === seq ? { ...entry, events: entry.events.filter((event) => event.type !== type) } : entry,
  );
const changed = (seq: number, change: Partial<JournalDocument>): JournalDocument[] =>
  JOURNAL.map((entry) => (entry.seq === seq ? { ...entry, ...change } : entry));
/** The good journal with one more entry after its end. */
const afterEnd = (entry: Partial<JournalDocument> & Pick<JournalDocument, "events">): JournalDocument[] => [
  ...JOURNAL,
  entryOf({ requestId: REQUEST_ID, planId: PLAN_ID, seq: 5, epoch: 1, ...entry }),
];
/** The good journal with one more entry between the last step and the end. */
const beforeEnd = (
  entry: Partial<JournalDocument> & Pick<JournalDocument, "events">,
  epochOfEnd = 1,
  worker = WORKER,
): JournalDocument[] => [
  ...JOURNAL.slice(0, 3),
  entryOf({ requestId: REQUEST_ID, planId: PLAN_ID, seq: 4, ...entry }),
  entryOf({
    requestId: REQUEST_ID,
    planId: PLAN_ID,
    seq: 5,
    epoch: epochOfEnd,
    by: { kind: "executor", id: worker },
    events: [{ type: "plan.ended", status: "COMPLETED", outputs: null, error: null }],
  }),
];

const stepChanged = (key: string, status: "COMPLETED" | "FAILED" | "RUNNING"): JournalEvent => ({
  type: "step.changed",
  key,
  stepId: key.replace(/\[\d+\]$/, ""),
  status,
});
const ended = (attemptId: string): JournalEvent => ({
  type: "attempt.ended",
  attemptId,
  units: ["b"],
  outcome: "completed",
  error: null,
  at: AT,
  durationMs: 1,
});
const CANCEL: JournalEvent = { type: "cancel.asked" };
const CANCELLED_BY = { kind: "api", id: "anonymous" } as const;
const askedCancel = (change: Partial<ClientControl> = {}): ClientControl => ({
  requestId: REQUEST_ID,
  type: "cancel.asked",
  subject: "the plan",
  by: "anonymous",
  planId: PLAN_ID,
  ...change,
});

type Seen = NonNullable<SeenReading["reading"]["plan"]>;
type SeenStep = Seen["steps"][number];
const outputs: { [key: string]: JsonObject } = {
  a: STEPS[0]?.output as JsonObject,
  b: STEPS[1]?.output as JsonObject,
};
/** A reading of the plan in which its steps have these statuses. */
function readingOf(
  steps: { [key: string]: SeenStep["status"] | Partial<SeenStep> },
  {
    status = "RUNNING",
    afterSeq = 0,
    request = "EXECUTING",
  }: Partial<Pick<Seen, "status">> & { afterSeq?: number; request?: string } = {},
): SeenReading {
  const seen = Object.entries(steps).map(([key, one]): SeenStep => {
    const found = typeof one === "string" ? { status: one } : one;
    const output = found.status === "COMPLETED" ? (outputs[key] ?? null) : null;
    return { key, status: "PENDING", output, ...found };
  });
  const plan = { status, waitReason: null, error: null, steps: seen };
  return {
    requestId: REQUEST_ID,
    afterSeq,
    reading: { status: request, planId: PLAN_ID, error: null, plan },
  };
}
const BEGUN = readingOf({ a: "PENDING", b: "PENDING" }, { status: "QUEUED" });
const HALF = readingOf({ a: "COMPLETED", b: "PENDING" });
const LAST = readingOf(
  {
    a: { status: "COMPLETED", attempts: [{ attempt: 1 }] },
    b: { status: "COMPLETED", attempts: [{ attempt: 1 }] },
  },
  { status: "COMPLETED", afterSeq: 4, request: "COMPLETED" },
);

test("a run whose documents and readings agree with its journal passes", () => {
  expect(checkRun({ ...GOOD, readings: [BEGUN, HALF, LAST] }).violations).toEqual([]);
});

describe("the oracle finds in a journal", () => {
  test.each<[title: string, id: string, journal: JournalDocument[]]>([
    ["a gap in the sequence", entryIdOf(4), JOURNAL.filter(({ seq }) => seq !== 3)],
    ["an entry with the id of another seq", entryIdOf(9), changed(3, { _id: entryIdOf(9) })],
    ["an event of an unknown type", entryIdOf(3), changed(3, { events: [{ type: "x" } as never] })],
    ["an older epoch", entryIdOf(5), beforeEnd(taken(2, STALE_OWNER))],
    ["a worker that has no lease", entryIdOf(3), changed(3, { by: { kind: "executor", id: STALE_OWNER } })],
    ["an epoch that took no lease", entryIdOf(3), changed(3, { epoch: 2 })],
    ["a lease under an epoch that was taken before", entryIdOf(4), beforeEnd(taken(1, WORKER))],
    [
      "a worker that released its lease",
      entryIdOf(5),
      beforeEnd({
        epoch: 1,
        events: [{ type: "lease.released", status: "QUEUED", waitReason: null, dueAt: null }],
      }),
    ],
    [
      "a lease that is released twice",
      entryIdOf(4),
      beforeEnd({ epoch: 1, events: [released(), released()] }),
    ],
    ["a call without a lease", entryIdOf(4), beforeEnd({ by: CANCELLED_BY, events: [ended("b 1")] })],
    ["an entry after the end", entryIdOf(5), afterEnd({ events: [{ type: "pause.asked" }] })],
    ["a second end", entryIdOf(5), afterEnd({ events: JOURNAL[3]?.events ?? [] })],
    ["a change of a step that had ended", entryIdOf(3), withEvent(3, stepChanged("a", "FAILED"))],
    ["an end of an attempt that did not start", entryIdOf(3), withEvent(3, ended("b 9"), true)],
    ["an attempt that ends twice", entryIdOf(3), withEvent(3, ended("b 1"))],
    ["an item of a list that was not expanded", entryIdOf(3), withEvent(3, stepChanged("c[0]", "RUNNING"))],
    ["a plan that was not stored", entryIdOf(3), changed(3, { planId: NEXT_ID })],
    ["a version that carries over a unit that does not exist", entryIdOf(5), stored(2, ["z"])],
    ["a version number that is left out", entryIdOf(5), stored(3, [])],
  ])("%s", (_title, id, journal) => {
    const found = checkRun({ ...GOOD, journal });
    expect(found.violations).toContainEqual(expect.objectContaining({ kind: "unlikeJournal", id }));
    expect(found.counts.unlikeJournal).toBeGreaterThan(0);
    expect(found.passed).toBe(false);
  });
});

/** Planners and a client, as entries name them. */
const PLANNER = { kind: "planner", id: "host:201:cccccccc" } as const;
const NEXT_PLANNER = { kind: "planner", id: "host:202:dddddddd" } as const;
const CLIENT = { kind: "api", id: "ann" } as const;
type Turn = Pick<JournalDocument, "by" | "events"> & Partial<JournalDocument>;

const turn = (by: JournalDocument["by"], ...events: JournalEvent[]): Turn => ({ by, events });
const began = (epoch: number, { id: worker }: { id: string }): JournalEvent => ({
  type: "planning.began",
  worker,
  epoch,
  work: "plan",
  from: null,
});
const spent = { modelCalls: 1, tokens: 10, costUsd: 0.1 };
const modelCalled = (callId: string): JournalEvent => ({
  type: "model.called",
  callId,
  purpose: "draft",
  model: "large",
  reserved: spent,
});
const modelAnswered = (callId: string): JournalEvent => ({
  type: "model.answered",
  callId,
  spent,
  error: null,
});
const asks = (...ids: string[]): JournalEvent => ({
  type: "question.asked",
  questions: ids.map((id) => ({ id, question: "Which one?" })),
});
const answers = (ids: string[], discardsDraft = false): JournalEvent => ({
  type: "answer.given",
  answers: ids.map((questionId) => ({ questionId, answer: "that one" })),
  discardsDraft,
});
const firstStored = (isValid = true): JournalEvent => ({
  type: "plan.stored",
  planId: PLAN_ID,
  version: 1,
  isValid,
  carried: [],
  settled: [],
  unanswered: [],
});
const planningFailed: JournalEvent = { type: "planning.failed", error: { code: "X", message: "no" } };
const replanAsked: JournalEvent = { type: "replan.asked", note: null, execute: true };

/** A journal of one request with these turns, in order. */
const journalOf = (turns: readonly Turn[]): JournalDocument[] =>
  turns.map((entry, place) => entryOf({ requestId: REQUEST_ID, planId: PLAN_ID, ...entry, seq: place + 1 }));
/** The entries of executors, which follow planning. */
const EXECUTION: Turn[] = JOURNAL.map(({ by, epoch, events }) => ({ by, events, ...(epoch && { epoch }) }));
/**
 * Entry 1 takes the request, 2 and 3 are a model call, 4 asks, 5 answers, 6 takes the request again, 7 stores
 * the plan.
 */
const PLANNING: Turn[] = [
  turn(PLANNER, began(1, PLANNER)),
  turn(PLANNER, modelCalled("call_1")),
  turn(PLANNER, modelAnswered("call_1")),
  turn(PLANNER, asks("q1", "q2")),
  turn(CLIENT, answers(["q1"]), answers(["q2"])),
  turn(NEXT_PLANNER, began(2, NEXT_PLANNER)),
  turn(NEXT_PLANNER, firstStored(), { type: "execution.asked" }),
];
const planned = (changes: Partial<Evidence> = {}): Evidence => ({
  ...GOOD,
  requests: GOOD.requests.map((request) => ({ ...request, source: "query" as const })),
  journal: journalOf([...PLANNING, ...EXECUTION]),
  ...changes,
});
/** The good planning with other turns from this entry on, followed by the execution. */
const from = (seq: number, ...turns: Turn[]): JournalDocument[] =>
  journalOf([...PLANNING.slice(0, seq - 1), ...turns, ...EXECUTION]);
const STORED = PLANNING.at(-1)!;
const TAKEN_AGAIN = PLANNING.at(-2)!;
const byNext = (...events: JournalEvent[]): Turn => turn(NEXT_PLANNER, ...events);

describe("a planned request passes when", () => {
  const requestWith = (status: Evidence["requests"][number]["status"]) =>
    planned().requests.map((request) => ({ ...request, status }));
  const unplanned = { plans: [], steps: [] };
  test.each<[title: string, found: Partial<Evidence>]>([
    ["its journal contains its planning and its execution", {}],
    [
      "another planner takes it over, and the first one appends the answer of its model",
      {
        journal: from(
          3,
          byNext(began(2, NEXT_PLANNER), modelCalled("call_2")),
          turn(PLANNER, modelAnswered("call_1")),
          byNext(modelAnswered("call_2")),
          STORED,
        ),
      },
    ],
    [
      "one answer abandons the draft",
      { journal: from(5, turn(CLIENT, answers(["q1"], true)), TAKEN_AGAIN, STORED) },
    ],
    [
      "a client requests the results in words and another plan after the end",
      {
        journal: journalOf([
          ...PLANNING,
          ...EXECUTION,
          turn(PLANNER, began(3, PLANNER), modelCalled("call_3"), modelAnswered("call_3")),
          turn(PLANNER, { type: "answer.written", error: null }),
          turn(CLIENT, replanAsked),
          turn(PLANNER, began(4, PLANNER), planningFailed),
        ]),
      },
    ],
    [
      "its planning failed with a stored plan",
      {
        journal: journalOf([...PLANNING.slice(0, 6), byNext(firstStored(false), planningFailed)]),
        requests: requestWith("FAILED"),
        plans: evidence({ planStatus: "INVALID" }).plans,
        steps: [],
      },
    ],
    [
      "its planning failed without a plan",
      {
        ...unplanned,
        journal: journalOf([...PLANNING.slice(0, 6), byNext(planningFailed)]),
        requests: requestWith("FAILED"),
      },
    ],
    [
      "it was cancelled before a planner took it",
      {
        ...unplanned,
        journal: journalOf([turn(CLIENT, { type: "planning.cancelled" })]),
        requests: requestWith("CANCELLED"),
      },
    ],
    ["no planner has taken it yet", { ...unplanned, journal: [], requests: requestWith("PLANNING") }],
  ])("%s", (_title, found) => {
    expect(checkJournal(planned(found))).toEqual([]);
  });
});

describe("the oracle finds in the planning of a journal", () => {
  const faultsOf = (...turns: Turn[]): string[] =>
    replayJournal(REQUEST_ID, journalOf(turns)).faults.map(({ id }) => id);
  const answerWritten: JournalEvent = { type: "answer.written", error: null };
  const BEGUN_PLANNING = turn(PLANNER, began(1, PLANNER));
  const OF_A_PLANNER: [what: string, event: JournalEvent][] = [
    ["a model call", modelCalled("call_1")],
    ["a question", asks("q1")],
    ["a failure", planningFailed],
    ["results in words", answerWritten],
    ["a plan", firstStored()],
    ["an invalid plan", firstStored(false)],
  ];

  test.each(OF_A_PLANNER)(
    "%s of a planner that is not planning, and only of such a planner",
    (_what, event) => {
      expect(faultsOf(BEGUN_PLANNING, turn(PLANNER, event))).toEqual([]);
      expect(faultsOf(turn(PLANNER, event))).toEqual([entryIdOf(1)]);
      expect(faultsOf(BEGUN_PLANNING, turn(NEXT_PLANNER, event))).toEqual([entryIdOf(2)]);
      const takenOver = [BEGUN_PLANNING, turn(NEXT_PLANNER, began(2, NEXT_PLANNER))];
      expect(faultsOf(...takenOver, turn(PLANNER, event))).toEqual([entryIdOf(3)]);
    },
  );

  test.each(OF_A_PLANNER.filter(([, { type }]) => type !== "plan.stored"))(
    "%s that a client appends",
    (_what, event) => {
      expect(faultsOf(BEGUN_PLANNING, turn({ kind: "api", id: PLANNER.id }, event))).toEqual([entryIdOf(2)]);
    },
  );

  test.each<[end: string, ...turns: Turn[]]>([
    ["a question", turn(PLANNER, asks("q1"))],
    ["a failure", turn(PLANNER, planningFailed)],
    ["results in words", turn(PLANNER, answerWritten)],
    ["a plan", turn(PLANNER, firstStored())],
    ["a plan that a client reruns", turn(CLIENT, firstStored())],
    ["a request for a replan", turn(CLIENT, replanAsked)],
  ])("a model call after planning ended with %s", (_end, ended) => {
    expect(faultsOf(BEGUN_PLANNING, ended, turn(PLANNER, modelCalled("call_1")))).toEqual([entryIdOf(3)]);
    const again = turn(PLANNER, began(2, PLANNER), modelCalled("call_1"));
    expect(faultsOf(BEGUN_PLANNING, ended, again)).toEqual([]);
  });

  test("a model call and other planning after planning ended with a cancel", () => {
    const ended = turn(CLIENT, { type: "planning.cancelled" });
    expect(faultsOf(BEGUN_PLANNING, ended, turn(PLANNER, modelCalled("call_1")))).toEqual([entryIdOf(3)]);
    expect(faultsOf(BEGUN_PLANNING, ended, turn(PLANNER, began(2, PLANNER)))).toEqual([entryIdOf(3)]);
    const again = [turn(CLIENT, replanAsked), turn(PLANNER, began(2, PLANNER))];
    expect(faultsOf(BEGUN_PLANNING, ended, ...again)).toEqual([]);
  });

  test("a new version while the version before it runs, and not when that was never started", () => {
    const next: JournalEvent = { ...firstStored(), planId: NEXT_ID, version: 2 } as JournalEvent;
    const ready = [BEGUN_PLANNING, turn(PLANNER, firstStored())];
    expect(faultsOf(...ready, turn(CLIENT, next))).toEqual([]);
    const started = turn(CLIENT, { type: "execution.asked" });
    expect(faultsOf(...ready, started, turn(CLIENT, next))).toEqual([entryIdOf(4)]);
  });

  test("no end of planning when an invalid plan is stored", () => {
    expect(
      faultsOf(BEGUN_PLANNING, turn(PLANNER, firstStored(false)), turn(PLANNER, planningFailed)),
    ).toEqual([]);
  });

  const called = turn(PLANNER, modelCalled("call_1"));
  const answered = turn(PLANNER, modelAnswered("call_1"));
  const asked = turn(PLANNER, asks("q1", "q2"));
  const cancelled = turn(CLIENT, { type: "planning.cancelled" });
  test.each<[title: string, ...turns: Turn[]]>([
    ["an epoch that was taken before", turn(NEXT_PLANNER, began(1, NEXT_PLANNER))],
    ["a lower epoch", turn(NEXT_PLANNER, began(9, NEXT_PLANNER)), turn(PLANNER, began(8, PLANNER))],
    ["a planner that begins in the name of another", turn(PLANNER, began(2, NEXT_PLANNER))],
    ["planning that a client begins", turn(CLIENT, began(2, CLIENT))],
    ["an answer of a model that was not called", called, turn(PLANNER, modelAnswered("call_2"))],
    ["a second answer of a model", called, answered, answered],
    ["a model call with the id of a running call", called, called],
    ["a model call with the id of an answered call", called, answered, called],
    ["an answer to a question that was not asked", asked, turn(CLIENT, answers(["q3"]))],
    ["a second answer to a question", asked, turn(CLIENT, answers(["q1"])), turn(CLIENT, answers(["q1"]))],
    [
      "an answer after the one that abandoned the draft",
      asked,
      turn(CLIENT, answers(["q1"], true)),
      turn(CLIENT, answers(["q2"])),
    ],
    ["an answer after a cancel", asked, cancelled, turn(CLIENT, answers(["q1"]))],
    ["an answer after a planner has begun again", asked, TAKEN_AGAIN, turn(CLIENT, answers(["q1"]))],
    [
      "a plan that was not stored",
      { epoch: 1, ...turn({ kind: "executor", id: WORKER }, ...taken(1, WORKER).events) },
    ],
  ])("%s", (_title, ...turns) => {
    expect(faultsOf(BEGUN_PLANNING, ...turns)).toEqual([entryIdOf(turns.length + 1)]);
  });

  test("no plan when no entry stores one", () => {
    const replayed = replayJournal(
      REQUEST_ID,
      journalOf([...PLANNING.slice(0, 6), turn(CLIENT, replanAsked)]),
    );
    expect(replayed).toMatchObject({ faults: [], isPlanned: true, beginsWith: "planning.began" });
    expect(replayed.plans.size).toBe(0);
  });
});

describe("the oracle finds for a planned request", () => {
  const requestWith = (status: Evidence["requests"][number]["status"]) =>
    planned().requests.map((request) => ({ ...request, status }));
  const queued = { ...evidence({ planStatus: "QUEUED", steps: [] }), requests: requestWith("EXECUTING") };
  test.each<[title: string, found: Partial<Evidence>]>([
    ["a journal that begins with its execution", { journal: JOURNAL }],
    ["a plan without a journal", { ...queued, journal: [] }],
    ["an end without a journal", { journal: [], plans: [], steps: [], requests: requestWith("FAILED") }],
    ["a plan that no entry stored", { ...queued, journal: journalOf(PLANNING.slice(0, 6)) }],
    [
      "an end that differs from that of its planning",
      {
        plans: [],
        steps: [],
        journal: journalOf([...PLANNING.slice(0, 6), byNext(planningFailed)]),
        requests: requestWith("CANCELLED"),
      },
    ],
    [
      "an end that differs from its cancel",
      {
        journal: journalOf([
          ...PLANNING,
          ...EXECUTION,
          turn(CLIENT, replanAsked),
          turn(CLIENT, { type: "planning.cancelled" }),
        ]),
      },
    ],
  ])("%s", (_title, found) => {
    expect(checkJournal(planned(found))).toEqual([
      expect.objectContaining({ kind: "unlikeJournal", id: REQUEST_ID }),
    ]);
  });
});

describe("the oracle finds in the documents", () => {
  const [a, b] = STEPS as [FinalStep, FinalStep];
  test.each<[title: string, id: string, found: Partial<Evidence>]>([
    ["a step with another status", B, { steps: [a, { ...b, status: "FAILED" }] }],
    ["a step with another number of attempts", A, { steps: [{ ...a, attempts: [] }, b] }],
    ["a step with another output", B, { steps: [a, { ...b, output: {} }] }],
    ["a step with another error", B, { steps: [a, { ...b, error: { code: "STEP_TIMEOUT" } }] }],
    ["a step that was not carried over", A, { steps: [{ ...a, carriedFrom: NEXT_ID }, b] }],
    ["a recorded step without a document", B, { steps: [a] }],
    ["a step that no entry changed", B, { journal: without(3, "step.changed") }],
    ["a plan with another end", PLAN_ID, evidence({ planStatus: "PARTIAL", steps: STEPS, journal: JOURNAL })],
    ["an end without an entry", PLAN_ID, { journal: JOURNAL.slice(0, 3) }],
    ["a plan with other counts", PLAN_ID, evidence({ steps: STEPS, plan: { counts: { COMPLETED: 1 } } })],
    [
      "a request with another end",
      REQUEST_ID,
      { requests: GOOD.requests.map((request) => ({ ...request, status: "PARTIAL" })) },
    ],
    ["a request without its journal", PLAN_ID, { journal: [] }],
    ["a journal without its plan", REQUEST_ID, { plans: [] }],
  ])("%s", (_title, id, found) => {
    const violations = checkJournal({ ...GOOD, ...found });
    expect(violations).toContainEqual(expect.objectContaining({ kind: "unlikeJournal", id }));
  });
});

describe("the oracle finds in the readings of a client", () => {
  test.each<[title: string, id: string, readings: SeenReading[], words: string]>([
    [
      "a step with a status that it never had",
      READING_ID,
      [readingOf({ a: "FAILED", b: "PENDING" })],
      "saw it FAILED",
    ],
    [
      "another output",
      READING_ID,
      [readingOf({ a: { status: "COMPLETED", output: {} }, b: "PENDING" })],
      "saw it COMPLETED",
    ],
    [
      "a step whose earlier entry is not seen",
      READING_ID,
      [readingOf({ a: "PENDING", b: "COMPLETED" })],
      "b COMPLETED",
    ],
    ["a step that is missing", READING_ID, [readingOf({ a: "COMPLETED" })], "saw a COMPLETED"],
    ["a reading that goes back", READING_ID, [HALF, BEGUN], "saw it PENDING"],
    [
      "a reading that is older than a durable entry",
      READING_ID,
      [{ ...HALF, afterSeq: 3 }],
      "saw it PENDING",
    ],
    [
      "an end before its last step",
      READING_ID,
      [readingOf({ a: "COMPLETED", b: "PENDING" }, { status: "COMPLETED" })],
      "PENDING",
    ],
    [
      "another number of attempts",
      READING_ID,
      [readingOf({ a: { status: "COMPLETED", attempts: [] }, b: "PENDING" })],
      "0 attempts",
    ],
    [
      "a plan with a status that it never had",
      REQUEST_ID,
      [readingOf({ a: "PENDING", b: "PENDING" }, { status: "WAITING" })],
      "WAITING",
    ],
    ["a plan with a status that has passed", REQUEST_ID, [{ ...HALF, afterSeq: 4 }], "RUNNING"],
    [
      "a request with another end",
      REQUEST_ID,
      [readingOf({ a: "PENDING", b: "PENDING" }, { request: "FAILED" })],
      "FAILED",
    ],
    [
      "a plan without a journal",
      REQUEST_ID,
      [{ ...HALF, reading: { ...HALF.reading, planId: NEXT_ID } }],
      NEXT_ID,
    ],
  ])("%s", (_title, id, readings, words) => {
    const violations = checkJournal({ ...GOOD, readings });
    expect(violations).toContainEqual(
      expect.objectContaining({ kind: "unlikeJournal", id, found: expect.stringContaining(words) }),
    );
  });
});

const APPROVED = askedCancel({ type: "approval.given", subject: "b hash" });

/** The journal in which the client has approved step `b` so many times. */
function approvedBy(times: number): JournalDocument[] {
  const facts = { stepId: "b", approved: true, approvalHash: "hash", reason: null };
  const event = { type: "approval.given", ...facts } as JournalEvent;
  return beforeEnd({ by: CANCELLED_BY, events: Array.from({ length: times }, () => event) });
}

describe("the oracle finds in the controls of clients", () => {
  const cancelled = beforeEnd({ by: CANCELLED_BY, events: [CANCEL] });
  const twice = beforeEnd({ by: CANCELLED_BY, events: [CANCEL, CANCEL] });
  test.each<[title: string, id: string, found: Partial<Evidence>]>([
    ["an answered cancel without an entry", REQUEST_ID, { controls: [askedCancel()] }],
    ["a cancel with two entries", entryIdOf(4), { controls: [askedCancel()], journal: twice }],
    [
      "a cancel of another client",
      REQUEST_ID,
      { controls: [askedCancel({ by: "ann" })], journal: cancelled },
    ],
    ["a cancel that no client sent", entryIdOf(4), { journal: cancelled }],
    ["an answered approval without an entry", REQUEST_ID, { controls: [APPROVED] }],
    ["an approval with two entries", entryIdOf(4), { controls: [APPROVED], journal: approvedBy(2) }],
    ["an approval that no client gave", entryIdOf(4), { journal: approvedBy(1) }],
    [
      "an approval of another call",
      REQUEST_ID,
      { controls: [{ ...APPROVED, subject: "b another hash" }], journal: approvedBy(1) },
    ],
    ...(["rerun", "retry", "amend", "restore"] as const).map((kind): [string, string, Partial<Evidence>] => [
      `an answered ${kind} without an entry`,
      REQUEST_ID,
      {
        asked: [
          {
            requestId: REQUEST_ID,
            planId: PLAN_ID,
            kind,
            from: null,
            acceptRepeat: [],
            storedAs: NEXT_ID,
          },
        ],
      },
    ]),
  ])("%s", (_title, id, found) => {
    const violations = checkJournal({ ...GOOD, ...found });
    expect(violations).toContainEqual(expect.objectContaining({ kind: "unlikeJournal", id }));
  });

  test("nothing when a control has one entry, whether the client was answered or not", () => {
    for (const planId of [PLAN_ID, null]) {
      expect(checkJournal({ ...GOOD, journal: cancelled, controls: [askedCancel({ planId })] })).toEqual([]);
      const approval = { ...APPROVED, planId };
      expect(checkJournal({ ...GOOD, journal: approvedBy(1), controls: [approval] })).toEqual([]);
    }
  });
});

describe("the oracle finds nothing when", () => {
  test.each([
    ["in its next entry", (events: JournalEvent[]) => beforeEnd({ events })],
    [
      "behind the end",
      (events: JournalEvent[]) => [
        ...JOURNAL,
        entryOf({ requestId: REQUEST_ID, planId: PLAN_ID, seq: 5, by: CANCELLED_BY, events }),
      ],
    ],
  ])("the owner of a plan has a client's cancel %s", (_, journalOf) => {
    const asked = { id: 1, by: CANCELLED_BY.id, at: new Date(0) };
    const journal = journalOf([{ ...CANCEL, asked } as JournalEvent]);
    expect(checkJournal({ ...GOOD, journal, controls: [askedCancel()] })).toEqual([]);
  });

  test("another worker takes the plan over", () => {
    const journal = beforeEnd(taken(2, STALE_OWNER), 2, STALE_OWNER);
    expect(checkJournal({ ...GOOD, journal })).toEqual([]);
  });

  test("consecutive tries that did not reach the server are one attempt", () => {
    const [first, second, third, fourth] = JOURNAL;
    const unsent = ["x", "y"].flatMap((attemptId): JournalEvent[] => {
      const [started] = second?.events ?? [];
      if (started?.type !== "attempt.started") throw new TypeError("The step was called");
      const end = { ...ended(attemptId), units: ["a"], isUnsent: true } as JournalEvent;
      return [{ ...started, attemptId }, end];
    });
    const journal = [first!, { ...second!, events: [...unsent, ...second!.events] }, third!, fourth!];
    const [a, b] = STEPS as [FinalStep, FinalStep];
    const steps = [{ ...a, attempts: [...a.attempts, ...a.attempts] }, b];
    expect(checkJournal({ ...GOOD, steps, journal })).toEqual([]);
  });

  test("an operator resolves a doubt after the end", () => {
    const resolvedBy = { by: "ann", resolution: "failed" } as const;
    const steps = [called(step("a", "COMPLETED", 1)), called(step("b", "IN_DOUBT"))];
    const requests = GOOD.requests.map((request) => ({ ...request, status: "FAILED" as const }));
    const open = evidence({ planStatus: "FAILED", steps, requests });
    expect(checkJournal(open)).toEqual([]);
    const { epoch: _, ...entry } = entryOf({ requestId: REQUEST_ID, planId: PLAN_ID, seq: 5, events: [] });
    const settled: JournalEvent = {
      type: "step.changed",
      key: "b",
      stepId: "b",
      status: "FAILED",
      resolvedBy,
    };
    const journal = [...open.journal, { ...entry, by: CANCELLED_BY, events: [settled] }];
    const after = [called(step("a", "COMPLETED", 1)), called(step("b", "FAILED"))];
    expect(checkJournal({ ...open, journal, steps: after })).toEqual([]);
    expect(checkJournal({ ...open, journal })).toHaveLength(1);
  });

  test("a plan was accepted and has no entry yet", () => {
    const requests = GOOD.requests.map((request) => ({ ...request, status: "EXECUTING" as const }));
    const run = evidence({
      planStatus: "QUEUED",
      steps: [step("a", "PENDING"), step("b", "PENDING")],
      requests,
    });
    expect(run.journal).toEqual([]);
    expect(checkJournal({ ...run, readings: [BEGUN] })).toEqual([]);
  });

  test("a rerun carries over items of a list", () => {
    const run = listEvidence([
      { items: ["ok", "failed", "ok"], errors: "collect" },
      { items: ["carried", "ok", "carried"], errors: "collect", planId: NEXT_ID },
    ]);
    expect(checkJournal(run)).toEqual([]);
    const lost = run.steps.filter(({ _id }) => _id !== `${NEXT_ID}/each[2]`);
    expect(checkJournal({ ...run, steps: lost })).toEqual([
      expect.objectContaining({ id: `${NEXT_ID}/each[2]` }),
    ]);
  });
});

function taken(epoch: number, worker: string): Pick<JournalDocument, "by" | "events"> & { epoch: number } {
  const events: JournalEvent[] = [{ type: "lease.taken", worker, epoch, from: WORKER }];
  return { epoch, by: { kind: "executor", id: worker }, events };
}

function released(): JournalEvent {
  return { type: "lease.released", status: "QUEUED", waitReason: null, dueAt: null };
}

function stored(version: number, carried: string[]): JournalDocument[] {
  const facts = { version, isValid: true, carried, settled: [], unanswered: [] };
  const event: JournalEvent = { type: "plan.stored", planId: NEXT_ID, ...facts };
  const { epoch: _, ...entry } = entryOf({ requestId: REQUEST_ID, planId: NEXT_ID, seq: 5, events: [event] });
  return [...JOURNAL, { ...entry, by: { kind: "api", id: "api" } }];
}
