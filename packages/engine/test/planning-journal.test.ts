/**
 * Planning in a journal: who plans, what model calls used, which questions are open, and how planning ended.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type EventOf,
  emptyRequest,
  type FoldedRequest,
  fold,
  isPlanningEvent,
  type JournalEntry,
  JournalEntrySchema,
  type JournalEvent,
  JournalInvalidError,
} from "../src/index.ts";
import { partsOf } from "./simulate.ts";

const REQUEST = "req_1700000000_aaaaaaaaaaaaaaaaaaaa";
const planIdOf = (version: number): string => `plan_170000000${version}_aaaaaaaaaaaaaaaaaaaa`;

type Writer = JournalEntry["by"];
const CLIENT: Writer = { kind: "api", id: "client" };
const EXECUTOR: Writer = { kind: "executor", id: "executor" };
const planner = (id: string): Writer => ({ kind: "planner", id });
const [ADA, BOB] = [planner("ada"), planner("bob")];

/** Journal entries as a store would keep them. Entries of an executor have its epoch, others have none. */
class Journal {
  readonly entries: JournalEntry[] = [];
  version = 1;
  epoch = 0;

  append(by: Writer, ...events: JournalEvent[]): this {
    const seq = this.entries.length + 1;
    this.entries.push({
      requestId: REQUEST,
      tenant: "t",
      planId: planIdOf(this.version),
      seq,
      by,
      at: new Date(seq * 1_000),
      writeId: `w${seq}`,
      ...(by.kind === "executor" && { epoch: this.epoch }),
      events,
    });
    return this;
  }

  /** An executor claims the current version and ends it. */
  execute(): this {
    this.epoch += 1;
    const taken = { type: "lease.taken", worker: EXECUTOR.id, epoch: this.epoch, from: null } as const;
    return this.append(EXECUTOR, taken, { type: "plan.ended", status: "FAILED", outputs: {}, error: null });
  }

  read(upTo = this.entries.length): FoldedRequest {
    return fold(emptyRequest(REQUEST), this.entries.slice(0, upTo));
  }
}

const began = (
  { id: worker }: Writer,
  epoch: number,
  work: EventOf<"planning.began">["work"] = "plan",
): JournalEvent => ({ type: "planning.began", worker, epoch, work, from: null });
const spending = (tokens: number) => ({ modelCalls: 1, tokens, costUsd: tokens / 1_000_000 });
const called = (callId: string, tokens = 1_000): JournalEvent => ({
  type: "model.called",
  callId,
  purpose: "draft",
  model: "large",
  reserved: spending(tokens),
});
const answered = (callId: string, tokens = 100): JournalEvent => ({
  type: "model.answered",
  callId,
  spent: spending(tokens),
  error: null,
});
const asks = (...ids: string[]): JournalEvent => ({
  type: "question.asked",
  questions: ids.map((id) => ({ id, question: `What is ${id}?` })),
});
const answers = (ids: readonly string[], discardsDraft = false): JournalEvent => ({
  type: "answer.given",
  answers: ids.map((questionId) => ({ questionId, answer: "this" })),
  discardsDraft,
});
const replanAsked = (note: string | null = "otherwise", execute = true): EventOf<"replan.asked"> => ({
  type: "replan.asked",
  note,
  execute,
});
const failed: JournalEvent = { type: "planning.failed", error: { code: "X", message: "no" } };
const postponed = (tries: number): JournalEvent => ({
  type: "planning.postponed",
  error: { code: "MODEL_UNREACHABLE", message: "HTTP 500" },
  since: new Date(0),
  tries,
  dueAt: new Date(tries * 1_000),
  until: new Date(600_000),
});
const cancelled: JournalEvent = { type: "planning.cancelled" };
const executionPlanned: JournalEvent = { type: "execution.planned" };
const answerWritten: JournalEvent = { type: "answer.written", error: null };
const stored = (version: number, isValid = true): JournalEvent => ({
  type: "plan.stored",
  planId: planIdOf(version),
  version,
  isValid,
  carried: [],
  settled: [],
  unanswered: [],
});

/** Actions on a request; an action that is not possible now is ignored. */
const ACTIONS = [
  "begin",
  "call",
  "answer call",
  "ask",
  "answer",
  "give up draft",
  "store",
  "store invalid",
  "fail",
  "postpone",
  "tell results",
  "cancel",
  "plan execution",
  "ask replan",
  "rerun",
  "execute",
] as const;

/** An independent model of a request: it performs actions and keeps its expected state. */
class RequestModel {
  readonly journal = new Journal();
  planner: { by: Writer; work: EventOf<"planning.began">["work"] } | null = null;
  epoch = 0;
  versions = 0;
  current: "none" | "open" | "over" = "none";
  replanAsked: { note: string | null; execute: boolean } | null = null;
  isCancelled = false;
  executionPlannedAt: Date | null = null;
  away: { since: Date; tries: number } | null = null;
  questions: string[] = [];
  /** By call id: the planner that made the call, and the reserved tokens. */
  calls = new Map<string, { by: Writer; tokens: number }>();
  callsMade = 0;
  questionsAsked = 0;
  answeredTokens: number[] = [];
  /** The expected state of planning after each entry. */
  readonly expected: object[] = [];

  act(action: (typeof ACTIONS)[number], size: number): void {
    const before = this.journal.entries.length;
    this.#act(action, size);
    if (this.journal.entries.length > before) this.expected.push(this.#now());
  }

  #now(): object {
    const tokens = this.answeredTokens.reduce((sum, one) => sum + one, 0);
    return {
      planner: this.planner && {
        worker: this.planner.by.id,
        work: this.planner.work,
        epoch: this.epoch,
      },
      epoch: this.epoch,
      replanAsked: this.replanAsked,
      isCancelled: this.isCancelled,
      executionPlannedAt: this.executionPlannedAt,
      away: this.away,
      questions: [...this.questions],
      calls: new Map([...this.calls].map(([id, call]) => [id, spending(call.tokens)])),
      spent: { ...spending(tokens), modelCalls: this.answeredTokens.length },
    };
  }

  #end(): void {
    this.planner = null;
    this.away = null;
    this.replanAsked = null;
  }

  #store(by: Writer, ...more: JournalEvent[]): void {
    this.versions += 1;
    this.journal.version = this.versions;
    this.journal.append(by, stored(this.versions), ...more);
    this.current = "open";
    this.#end();
    this.isCancelled = false;
    this.executionPlannedAt = null;
  }

  #act(action: (typeof ACTIONS)[number], size: number): void {
    const { journal, planner: at } = this;
    const by = at?.by;
    switch (action) {
      case "begin": {
        if (this.questions.length > 0 || this.current === "open") return;
        if (this.isCancelled && this.current === "none") return;
        const next = [ADA, BOB][size % 2] ?? ADA;
        this.epoch += 1 + (size % 3);
        const work = this.current === "none" ? "plan" : this.replanAsked ? "replan" : "answer";
        this.planner = { by: next, work };
        // The version that is being planned is not stored yet.
        journal.version = this.versions + (work === "plan" ? 1 : 0);
        journal.append(next, began(next, this.epoch, work));
        return;
      }
      case "call": {
        if (!by) return;
        this.callsMade += 1;
        this.calls.set(`call_${this.callsMade}`, { by, tokens: size });
        journal.append(by, called(`call_${this.callsMade}`, size));
        return;
      }
      case "answer call": {
        const [id, call] = [...this.calls][size % Math.max(1, this.calls.size)] ?? [];
        if (!id || !call) return;
        this.calls.delete(id);
        this.answeredTokens.push(size);
        this.away = null;
        // Also after another planner took over.
        journal.append(call.by, answered(id, size));
        return;
      }
      case "ask": {
        if (!by) return;
        const ids = Array.from(
          { length: 1 + (size % 3) },
          (_, position) => `q${this.questionsAsked + position + 1}`,
        );
        this.questionsAsked += ids.length;
        this.questions = ids;
        this.planner = null;
        this.away = null;
        journal.append(by, asks(...ids));
        return;
      }
      case "answer": {
        const ids = this.questions.slice(0, 1 + (size % 3));
        if (ids.length === 0) return;
        this.questions = this.questions.slice(ids.length);
        journal.append(CLIENT, answers(ids));
        return;
      }
      case "give up draft": {
        if (this.questions.length === 0) return;
        journal.append(CLIENT, answers(this.questions.slice(0, 1), true));
        this.questions = [];
        return;
      }
      case "store":
        if (by && at.work !== "answer") this.#store(by, { type: "execution.asked" });
        return;
      case "store invalid": {
        if (!by || at.work !== "plan") return;
        this.versions += 1;
        journal.version = this.versions;
        journal.append(by, stored(this.versions, false), failed);
        this.current = "over";
        this.#end();
        return;
      }
      case "fail":
        if (!by) return;
        journal.append(by, failed);
        this.#end();
        return;
      case "postpone":
        if (!by) return;
        this.away = { since: new Date(0), tries: 1 + (size % 9) };
        this.planner = null;
        journal.append(by, postponed(this.away.tries));
        return;
      case "tell results":
        if (!by) return;
        journal.append(by, answerWritten);
        this.#end();
        return;
      case "cancel":
        journal.append(CLIENT, cancelled);
        this.#end();
        this.isCancelled = true;
        this.questions = [];
        return;
      case "plan execution":
        if (this.current !== "none") return;
        journal.append(CLIENT, executionPlanned);
        this.executionPlannedAt = journal.entries.at(-1)?.at ?? null;
        return;
      case "ask replan":
        if (this.replanAsked || this.questions.length > 0 || this.current === "open") return;
        // After planning that ended without a plan.
        if (this.current === "none" && (this.epoch === 0 || this.planner)) return;
        this.replanAsked = { note: size % 2 ? "otherwise" : null, execute: size % 3 > 0 };
        this.planner = null;
        this.away = null;
        this.isCancelled = false;
        this.executionPlannedAt = null;
        journal.append(CLIENT, replanAsked(this.replanAsked.note, this.replanAsked.execute));
        return;
      case "rerun":
        if (this.current === "over") this.#store(CLIENT, { type: "execution.asked" });
        return;
      case "execute":
        if (this.current !== "open") return;
        journal.execute();
        this.current = "over";
        return;
    }
  }
}

const lives = fc
  .array(fc.tuple(fc.constantFrom(...ACTIONS), fc.nat(5_000)), { minLength: 1, maxLength: 60 })
  .map((actions) => {
    const model = new RequestModel();
    model.act("begin", 0);
    for (const [action, size] of actions) model.act(action, size);
    return model;
  });

for (const { numRuns, options } of partsOf(300))
  test(
    "every entry gives the planner, the open questions, the spending of model calls and the reserved amounts",
    options,
    () => {
      fc.assert(
        fc.property(lives, ({ journal, expected }) => {
          let request = emptyRequest(REQUEST);
          for (const [position, entry] of journal.entries.entries()) {
            expect(JournalEntrySchema.parse(entry)).toEqual(entry);
            request = fold(request, [entry]);
            expect(request.planning).toEqual(expected[position]);
          }
        }),
        { numRuns },
      );
    },
  );

for (const { numRuns, options } of partsOf(300))
  test(
    "folding a part and then the rest equals folding all, and does not change returned states",
    options,
    () => {
      fc.assert(
        fc.property(lives, fc.nat(), ({ journal }, position) => {
          const split = position % (journal.entries.length + 1);
          const before = journal.read(split);
          const copy = structuredClone(before);
          expect(fold(before, journal.entries.slice(split))).toEqual(journal.read());
          expect(before).toEqual(copy);
        }),
        { numRuns },
      );
    },
  );

test("events of planning do not change plans, and of the plan events only plan.stored changes planning", () => {
  fc.assert(
    fc.property(lives, ({ journal }) => {
      let request = emptyRequest(REQUEST);
      for (const entry of journal.entries) {
        const next = fold(request, [entry]);
        if (entry.events.every(isPlanningEvent)) expect(next.plans).toEqual(request.plans);
        const isStored = entry.events.some(({ type }) => type === "plan.stored");
        if (!isStored && !entry.events.some(isPlanningEvent)) expect(next.planning).toEqual(request.planning);
        request = next;
      }
    }),
  );
});

/** The journal after the end of a first plan. */
const afterFirstPlan = (journal: Journal): Journal =>
  journal.append(ADA, stored(1), { type: "execution.asked" }).execute();

/** A request with every event type of planning. */
const story = (): Journal => {
  const journal = new Journal();
  journal
    .append(ADA, began(ADA, 1))
    .append(ADA, called("call_1"))
    .append(BOB, began(BOB, 2))
    .append(ADA, answered("call_1"))
    .append(BOB, asks("q1", "q2"))
    .append(CLIENT, answers(["q2"]))
    .append(CLIENT, answers(["q1"], true))
    .append(ADA, began(ADA, 3))
    .append(CLIENT, executionPlanned)
    .append(ADA, stored(1), { type: "execution.asked" })
    .execute()
    .append(BOB, began(BOB, 4, "answer"))
    .append(BOB, answerWritten)
    .append(CLIENT, replanAsked())
    .append(BOB, began(BOB, 5, "replan"))
    .append(BOB, failed)
    .append(CLIENT, replanAsked(null, false))
    .append(BOB, began(BOB, 6, "replan"))
    .append(CLIENT, cancelled)
    .append(CLIENT, replanAsked())
    .append(BOB, began(BOB, 7, "replan"), postponed(1))
    .append(BOB, began(BOB, 8, "replan"));
  journal.version = 2;
  return journal.append(BOB, stored(2));
};

const TYPES = [
  ...new Set(story().entries.flatMap(({ events }) => events.filter(isPlanningEvent).map(({ type }) => type))),
];

test("the story contains every type of planning event", () => {
  expect(TYPES.toSorted()).toEqual([
    "answer.given",
    "answer.written",
    "execution.planned",
    "model.answered",
    "model.called",
    "planning.began",
    "planning.cancelled",
    "planning.failed",
    "planning.postponed",
    "question.asked",
    "replan.asked",
  ]);
});

test.each(TYPES)("%s changes the state of planning wherever it appears", (type) => {
  const { entries } = story();
  for (const [position, entry] of entries.entries()) {
    if (!entry.events.some((event) => event.type === type)) continue;
    const before = fold(emptyRequest(REQUEST), entries.slice(0, position));
    expect(fold(before, [entry]).planning).not.toEqual(before.planning);
  }
});

test.each([called("call_9"), asks("q9"), failed, postponed(1), answerWritten, stored(1), stored(1, false)])(
  "%j is accepted only from the planner that began last",
  (event) => {
    const journal = () => new Journal().append(ADA, began(ADA, 1));
    expect(() => journal().append(ADA, event).read()).not.toThrow();
    const takenOver = () => journal().append(BOB, began(BOB, 4));
    expect(() => takenOver().append(BOB, event).read()).not.toThrow();
    expect(() => takenOver().append(ADA, event).read()).toThrow("ada wrote it, and bob plans");
    expect(() => journal().append(ADA, failed).append(ADA, event).read()).toThrow(
      "ada wrote it, and no planner plans",
    );
  },
);

test("model.answered is accepted also from a replaced planner, and after planning has ended", () => {
  const journal = new Journal()
    .append(ADA, began(ADA, 1), called("call_1", 7), called("call_2", 9))
    .append(BOB, began(BOB, 2));
  expect([...journal.read().planning.calls.values()]).toEqual([spending(7), spending(9)]);
  journal.append(ADA, answered("call_2", 5)).append(CLIENT, cancelled).append(ADA, answered("call_1", 4));
  const { calls, spent } = journal.read().planning;
  expect(calls.size).toBe(0);
  expect(spent).toEqual({ modelCalls: 2, tokens: 9, costUsd: 0.000_009 });
});

test("costs of many small model calls add up without errors of binary fractions", () => {
  const journal = new Journal().append(ADA, began(ADA, 1));
  for (let call = 0; call < 1_000; call++)
    journal.append(ADA, called(`call_${call}`), {
      type: "model.answered",
      callId: `call_${call}`,
      spent: { modelCalls: 1, tokens: 0, costUsd: 0.1 },
      error: null,
    });
  expect(journal.read().planning.spent).toEqual({ modelCalls: 1_000, tokens: 0, costUsd: 100 });
});

test("a failed model call counts as spent", () => {
  const error = { code: "MODEL_TIMEOUT", message: "No answer" };
  const answer: JournalEvent = { type: "model.answered", callId: "call_1", spent: spending(3), error };
  const journal = new Journal().append(ADA, began(ADA, 1), called("call_1"), answer);
  expect(journal.read().planning).toMatchObject({ spent: spending(3), calls: new Map() });
});

test("a question is open until it is answered, its draft is abandoned, planning begins anew, or planning is cancelled", () => {
  const asked = () => new Journal().append(ADA, began(ADA, 1), asks("q1", "q2", "q3"));
  const open = (journal: Journal) => journal.read().planning.questions;
  expect(open(asked())).toEqual(["q1", "q2", "q3"]);
  expect(open(asked().append(CLIENT, answers(["q2"])))).toEqual(["q1", "q3"]);
  expect(open(asked().append(CLIENT, answers(["q2"], true)))).toEqual([]);
  expect(open(asked().append(BOB, began(BOB, 2)))).toEqual([]);
  expect(open(asked().append(CLIENT, cancelled))).toEqual([]);
});

test("a rerun by a client ends planning: what its planner appends afterwards is refused", () => {
  const journal = new Journal().append(ADA, began(ADA, 1), stored(1)).execute();
  journal.append(CLIENT, replanAsked()).append(BOB, began(BOB, 2, "replan"));
  journal.version = 2;
  journal.append(CLIENT, stored(2));
  expect(journal.read().planning).toMatchObject({ planner: null, epoch: 2, replanAsked: null });
  journal.version = 3;
  journal.append(BOB, stored(3));
  expect(() => journal.read()).toThrow("bob wrote it, and no planner plans");
});

test("a plan that cannot run is stored together with the failure of its planning", () => {
  const journal = new Journal().append(ADA, began(ADA, 1)).append(ADA, stored(1, false), failed);
  const { plans, planning } = journal.read();
  expect(plans.get(planIdOf(1))).toMatchObject({ status: "INVALID", finishedAt: new Date(2_000) });
  expect(planning.planner).toBeNull();
});

test.each(["plan", "replan", "answer"] as const)(
  "planning with work %s continues after the end of a plan",
  (work) => {
    const journal = new Journal().append(ADA, began(ADA, 1), stored(1)).execute();
    journal
      .append(CLIENT, replanAsked())
      .append(ADA, began(ADA, 2, work))
      .append(ADA, called("call_1"), answered("call_1"))
      .append(ADA, asks("q1"))
      .append(CLIENT, answers(["q1"]))
      .append(ADA, began(ADA, 3, work))
      .append(ADA, answerWritten)
      .append(BOB, began(BOB, 4, work))
      .append(BOB, failed)
      .append(CLIENT, cancelled);
    const { plans, planning } = journal.read();
    expect(plans.get(planIdOf(1))?.status).toBe("FAILED");
    expect(planning).toMatchObject({ planner: null, epoch: 4, replanAsked: null, questions: [] });
  },
);

test.each<[string, (journal: Journal) => Journal, string]>([
  [
    "an epoch that another planner had",
    (journal) => journal.append(BOB, began(BOB, 2)),
    "planning epoch 2 follows epoch 2",
  ],
  ["a lower epoch", (journal) => journal.append(BOB, began(BOB, 1)), "planning epoch 1 follows epoch 2"],
  [
    "a model call that is already running",
    (journal) => journal.append(ADA, called("call_1"), called("call_1")),
    "call call_1 was recorded before",
  ],
  [
    "an answer to no model call",
    (journal) => journal.append(ADA, answered("call_1")),
    "call call_1 is not running",
  ],
  [
    "a second answer to a model call",
    (journal) => journal.append(ADA, called("call_1"), answered("call_1"), answered("call_1")),
    "call call_1 is not running",
  ],
  [
    "an answer to an unknown question",
    (journal) => journal.append(CLIENT, answers(["q1"])),
    "question q1 is not open",
  ],
  [
    "a second answer",
    (journal) =>
      journal
        .append(ADA, asks("q1"))
        .append(CLIENT, answers(["q1"]))
        .append(CLIENT, answers(["q1"])),
    "question q1 is not open",
  ],
  [
    "a replan while one is requested",
    (journal) => afterFirstPlan(journal).append(CLIENT, replanAsked(), replanAsked()),
    "another replan was requested before",
  ],
  [
    "a replan while one is running",
    (journal) =>
      afterFirstPlan(journal)
        .append(BOB, began(BOB, 3, "replan"))
        .append(CLIENT, replanAsked()),
    "another replan was requested before",
  ],
  [
    "a replan while one waits for an answer",
    (journal) =>
      afterFirstPlan(journal)
        .append(CLIENT, replanAsked())
        .append(BOB, began(BOB, 3, "replan"), asks("q1"))
        .append(CLIENT, replanAsked()),
    "another replan was requested before",
  ],
])("%s is refused, and the error names the entry", (_, corrupt, message) => {
  const journal = corrupt(new Journal().append(ADA, began(ADA, 2)));
  expect(() => journal.read()).toThrow(message);
  expect(() => journal.read()).toThrow(/^Entry \d+ of req_/);
  expect(() => journal.read()).toThrow(JournalInvalidError);
});

test("planning that was cancelled begins again only when a client asks for another version", () => {
  const journal = () => new Journal().append(ADA, began(ADA, 1)).append(CLIENT, cancelled);
  expect(() => journal().append(BOB, began(BOB, 2)).read()).toThrow("planning was cancelled");
  expect(story().read().planning).toMatchObject({ isCancelled: false, epoch: 8 });
});

test("only a plan that has ended can be replanned, or planning that ended without one", () => {
  const planning = () => new Journal().append(ADA, began(ADA, 1));
  expect(() => planning().append(CLIENT, replanAsked()).read()).toThrow("no plan has ended");
  const again = planning().append(ADA, failed).append(CLIENT, replanAsked(null)).append(BOB, began(BOB, 2));
  expect(again.read().planning).toMatchObject({ replanAsked: { note: null }, planner: { worker: "bob" } });
  expect(again.append(BOB, stored(1)).read().planning.replanAsked).toBeNull();
  expect(() => new Journal().append(CLIENT, replanAsked()).read()).toThrow("no plan has ended");
  const open = new Journal().append(ADA, began(ADA, 1)).append(ADA, stored(1));
  expect(() => open.append(CLIENT, replanAsked()).read()).toThrow("no plan has ended");
});

test("the model is away until a call is answered, in spite of failed calls and new planners", () => {
  const lost = { ...answered("call_1"), error: { code: "MODEL_UNREACHABLE", message: "HTTP 500" } };
  const journal = new Journal()
    .append(ADA, began(ADA, 1), called("call_1"), postponed(2))
    .append(ADA, lost as JournalEvent)
    .append(BOB, began(BOB, 2), called("call_2"));
  expect(journal.read().planning.away).toEqual({ since: new Date(0), tries: 2 });
  expect(journal.append(BOB, answered("call_2")).read().planning.away).toBeNull();
});

test("a plan that a planner makes gets no events before it is stored", () => {
  const journal = new Journal().append(ADA, began(ADA, 1)).append(CLIENT, { type: "execution.asked" });
  expect(() => journal.read()).toThrow("was not stored before");
});
