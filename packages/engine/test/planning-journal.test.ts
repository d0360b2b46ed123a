/** What a journal says of planning: who plans, what models took, what is asked, and how planning ended. */
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

const REQUEST = "req_1700000000_aaaaaaaaaaaaaaaaaaaa";
const planIdOf = (version: number): string => `plan_170000000${version}_aaaaaaaaaaaaaaaaaaaa`;

type Writer = JournalEntry["by"];
const CLIENT: Writer = { kind: "api", id: "client" };
const EXECUTOR: Writer = { kind: "executor", id: "executor" };
const planner = (id: string): Writer => ({ kind: "planner", id });
const [ADA, BOB] = [planner("ada"), planner("bob")];

/** Entries as a store would keep them. An executor's has its epoch, others have none. */
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

  /** An executor takes the current version, and ends it. */
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
const answers = (ids: readonly string[], givesUpDraft = false): JournalEvent => ({
  type: "answer.given",
  answers: ids.map((questionId) => ({ questionId, answer: "this" })),
  givesUpDraft,
});
const replanAsked = (note: string | null = "otherwise", execute = true): EventOf<"replan.asked"> => ({
  type: "replan.asked",
  note,
  execute,
});
const failed: JournalEvent = { type: "planning.failed", error: { code: "X", message: "no" } };
const cancelled: JournalEvent = { type: "planning.cancelled" };
const executionPlanned: JournalEvent = { type: "execution.planned" };
const resultsTold: JournalEvent = { type: "results.told", error: null };
const stored = (version: number, isValid = true): JournalEvent => ({
  type: "plan.stored",
  planId: planIdOf(version),
  version,
  isValid,
  carried: [],
  settled: [],
  unanswered: [],
});

/** What a request may go through next; each that cannot be now is left out. */
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
  "tell results",
  "cancel",
  "plan execution",
  "ask replan",
  "rerun",
  "execute",
] as const;

/**
 * A request as clients, planners and executors would know it: it goes through actions and counts for itself.
 */
class Life {
  readonly journal = new Journal();
  planner: { by: Writer; work: EventOf<"planning.began">["work"] } | null = null;
  epoch = 0;
  versions = 0;
  current: "none" | "open" | "over" = "none";
  replanAsked: { note: string | null; execute: boolean } | null = null;
  isCancelled = false;
  isExecutionPlanned = false;
  questions: string[] = [];
  /** Ids and who made them, with the tokens set aside. */
  calls = new Map<string, { by: Writer; tokens: number }>();
  callsMade = 0;
  questionsAsked = 0;
  answeredTokens: number[] = [];
  /** What was expected of planning after each entry. */
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
      isExecutionPlanned: this.isExecutionPlanned,
      questions: [...this.questions],
      calls: new Map([...this.calls].map(([id, call]) => [id, spending(call.tokens)])),
      spent: { ...spending(tokens), modelCalls: this.answeredTokens.length },
    };
  }

  #end(): void {
    this.planner = null;
    this.replanAsked = null;
  }

  #store(by: Writer, ...more: JournalEvent[]): void {
    this.versions += 1;
    this.journal.version = this.versions;
    this.journal.append(by, stored(this.versions), ...more);
    this.current = "open";
    this.#end();
    this.isCancelled = false;
    this.isExecutionPlanned = false;
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
        // The version that is to be made is not stored yet.
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
        // Also once its planning was given to another planner.
        journal.append(call.by, answered(id, size));
        return;
      }
      case "ask": {
        if (!by) return;
        const ids = Array.from(
          { length: 1 + (size % 3) },
          (_, place) => `q${this.questionsAsked + place + 1}`,
        );
        this.questionsAsked += ids.length;
        this.questions = ids;
        this.planner = null;
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
      case "tell results":
        if (!by) return;
        journal.append(by, resultsTold);
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
        this.isExecutionPlanned = true;
        return;
      case "ask replan":
        if (this.current !== "over" || this.replanAsked || this.questions.length > 0) return;
        this.replanAsked = { note: size % 2 ? "otherwise" : null, execute: size % 3 > 0 };
        this.planner = null;
        this.isCancelled = false;
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

const aLife = fc
  .array(fc.tuple(fc.constantFrom(...ACTIONS), fc.nat(5_000)), { minLength: 1, maxLength: 60 })
  .map((actions) => {
    const life = new Life();
    life.act("begin", 0);
    for (const [action, size] of actions) life.act(action, size);
    return life;
  });

test("at every entry it is told who plans, what is asked, what models took and what is set aside for them", () => {
  fc.assert(
    fc.property(aLife, ({ journal, expected }) => {
      let request = emptyRequest(REQUEST);
      for (const [place, entry] of journal.entries.entries()) {
        expect(JournalEntrySchema.parse(entry)).toEqual(entry);
        request = fold(request, [entry]);
        expect(request.planning).toEqual(expected[place]);
      }
    }),
    { numRuns: 300 },
  );
});

test("folding a part and then the rest gives what folding all gives, and changes nothing that was given away", () => {
  fc.assert(
    fc.property(aLife, fc.nat(), ({ journal }, place) => {
      const split = place % (journal.entries.length + 1);
      const before = journal.read(split);
      const copy = structuredClone(before);
      expect(fold(before, journal.entries.slice(split))).toEqual(journal.read());
      expect(before).toEqual(copy);
    }),
    { numRuns: 300 },
  );
});

test("planning makes no plan and changes none, and a plan says nothing of planning but that it ended", () => {
  fc.assert(
    fc.property(aLife, ({ journal }) => {
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

/** Behind the end of a first plan. */
const over = (journal: Journal): Journal =>
  journal.append(ADA, stored(1), { type: "execution.asked" }).execute();

/** A request in whose life everything of planning happens once, at least. */
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
    .append(BOB, resultsTold)
    .append(CLIENT, replanAsked())
    .append(BOB, began(BOB, 5, "replan"))
    .append(BOB, failed)
    .append(CLIENT, replanAsked(null, false))
    .append(BOB, began(BOB, 6, "replan"))
    .append(CLIENT, cancelled)
    .append(CLIENT, replanAsked())
    .append(BOB, began(BOB, 7, "replan"));
  journal.version = 2;
  return journal.append(BOB, stored(2));
};

const TYPES = [
  ...new Set(story().entries.flatMap(({ events }) => events.filter(isPlanningEvent).map(({ type }) => type))),
];

test("the story tells of every type of planning event", () => {
  expect(TYPES.toSorted()).toEqual([
    "answer.given",
    "execution.planned",
    "model.answered",
    "model.called",
    "planning.began",
    "planning.cancelled",
    "planning.failed",
    "question.asked",
    "replan.asked",
    "results.told",
  ]);
});

test.each(TYPES)("a fold that leaves out %s is noticed at every place where it is told", (type) => {
  const { entries } = story();
  for (const [place, entry] of entries.entries()) {
    if (!entry.events.some((event) => event.type === type)) continue;
    const before = fold(emptyRequest(REQUEST), entries.slice(0, place));
    expect(fold(before, [entry]).planning).not.toEqual(before.planning);
  }
});

test.each([called("call_9"), asks("q9"), failed, resultsTold, stored(1), stored(1, false)])(
  "%j is told by the planner that began last, and by no other",
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

test("what a model answered is told also by a planner that another took over from, and once planning has ended", () => {
  const journal = new Journal()
    .append(ADA, began(ADA, 1), called("call_1", 7), called("call_2", 9))
    .append(BOB, began(BOB, 2));
  expect([...journal.read().planning.calls.values()]).toEqual([spending(7), spending(9)]);
  journal.append(ADA, answered("call_2", 5)).append(CLIENT, cancelled).append(ADA, answered("call_1", 4));
  const { calls, spent } = journal.read().planning;
  expect(calls.size).toBe(0);
  expect(spent).toEqual({ modelCalls: 2, tokens: 9, costUsd: 0.000_009 });
});

test("money of many small model calls adds up without what binary fractions leave behind", () => {
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

test("a call that failed took what it took", () => {
  const error = { code: "MODEL_TIMEOUT", message: "No answer" };
  const answer: JournalEvent = { type: "model.answered", callId: "call_1", spent: spending(3), error };
  const journal = new Journal().append(ADA, began(ADA, 1), called("call_1"), answer);
  expect(journal.read().planning).toMatchObject({ spent: spending(3), calls: new Map() });
});

test("a question is open until it is answered, its draft is given up, planning begins anew, or is cancelled", () => {
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

test("a plan that cannot run is told beside the failure of its planning", () => {
  const journal = new Journal().append(ADA, began(ADA, 1)).append(ADA, stored(1, false), failed);
  const { plans, planning } = journal.read();
  expect(plans.get(planIdOf(1))).toMatchObject({ status: "INVALID", finishedAt: new Date(2_000) });
  expect(planning.planner).toBeNull();
});

test.each(["plan", "replan", "answer"] as const)("work %s goes on behind the end of a plan", (work) => {
  const journal = new Journal().append(ADA, began(ADA, 1), stored(1)).execute();
  journal
    .append(CLIENT, replanAsked())
    .append(ADA, began(ADA, 2, work))
    .append(ADA, called("call_1"), answered("call_1"))
    .append(ADA, asks("q1"))
    .append(CLIENT, answers(["q1"]))
    .append(ADA, began(ADA, 3, work))
    .append(ADA, resultsTold)
    .append(BOB, began(BOB, 4, work))
    .append(BOB, failed)
    .append(CLIENT, cancelled);
  const { plans, planning } = journal.read();
  expect(plans.get(planIdOf(1))?.status).toBe("FAILED");
  expect(planning).toMatchObject({ planner: null, epoch: 4, replanAsked: null, questions: [] });
});

test.each<[string, (journal: Journal) => Journal, string]>([
  [
    "an epoch that another planner had",
    (journal) => journal.append(BOB, began(BOB, 2)),
    "planning epoch 2 follows epoch 2",
  ],
  ["a lower epoch", (journal) => journal.append(BOB, began(BOB, 1)), "planning epoch 1 follows epoch 2"],
  [
    "a model call that is under way",
    (journal) => journal.append(ADA, called("call_1"), called("call_1")),
    "call call_1 was told before",
  ],
  [
    "an answer to no model call",
    (journal) => journal.append(ADA, answered("call_1")),
    "call call_1 is not under way",
  ],
  [
    "a second answer to a model call",
    (journal) => journal.append(ADA, called("call_1"), answered("call_1"), answered("call_1")),
    "call call_1 is not under way",
  ],
  [
    "an answer to what was not asked",
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
    "a replan while one is asked for",
    (journal) => over(journal).append(CLIENT, replanAsked(), replanAsked()),
    "another replan was asked for before",
  ],
  [
    "a replan while one is under way",
    (journal) =>
      over(journal)
        .append(BOB, began(BOB, 3, "replan"))
        .append(CLIENT, replanAsked()),
    "another replan was asked for before",
  ],
  [
    "a replan while one waits for an answer",
    (journal) =>
      over(journal)
        .append(CLIENT, replanAsked())
        .append(BOB, began(BOB, 3, "replan"), asks("q1"))
        .append(CLIENT, replanAsked()),
    "another replan was asked for before",
  ],
])("%s is refused, and the entry is named", (_, spoil, message) => {
  const journal = spoil(new Journal().append(ADA, began(ADA, 2)));
  expect(() => journal.read()).toThrow(message);
  expect(() => journal.read()).toThrow(/^Entry \d+ of req_/);
  expect(() => journal.read()).toThrow(JournalInvalidError);
});

test("planning that was cancelled begins again only when a client asks for another version", () => {
  const journal = () => new Journal().append(ADA, began(ADA, 1)).append(CLIENT, cancelled);
  expect(() => journal().append(BOB, began(BOB, 2)).read()).toThrow("planning was cancelled");
  expect(story().read().planning).toMatchObject({ isCancelled: false, epoch: 7 });
});

test("a replan is asked for a plan that is over, and for nothing else", () => {
  expect(() => new Journal().append(CLIENT, replanAsked()).read()).toThrow("no plan is over");
  const open = new Journal().append(ADA, began(ADA, 1)).append(ADA, stored(1));
  expect(() => open.append(CLIENT, replanAsked()).read()).toThrow("no plan is over");
});

test("nothing is told of a plan that a planner is to make before it is stored", () => {
  const journal = new Journal().append(ADA, began(ADA, 1)).append(CLIENT, { type: "execution.asked" });
  expect(() => journal.read()).toThrow("was not stored before");
});
