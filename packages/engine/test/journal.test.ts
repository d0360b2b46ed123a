/**
 * The journal of a run says what the run knows: at every entry, over crashes, and for the engine that
 * continues from it.
 */
import type { Plan } from "@planwright/plan";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type EndedAttempt,
  type EngineEvent,
  emptyRequest,
  type FoldedRequest,
  fold,
  isUnansweredLookup,
  isUnreachable,
  type JournalEntry,
  JournalEntrySchema,
  type JournalEvent,
  type Resolution,
  recordsOf,
  type StartedAttempt,
  type StepRecord,
  toldAgain,
  turnEvents,
  unitKeysOf,
} from "../src/index.ts";
import {
  type Call,
  completed,
  EFFECT_TOOLS,
  failed,
  type JournalWriter,
  planOf,
  type SimulateOptions,
  simulate,
} from "./simulate.ts";

const REQUEST = "req_1700000000_aaaaaaaaaaaaaaaaaaaa";
const PLAN = "plan_1700000000_aaaaaaaaaaaaaaaaaaaa";

/** Entries as a store would keep them, one after the other. */
class Journal {
  readonly entries: JournalEntry[] = [];
  epoch = 0;

  append(events: JournalEvent[], at = 0, planId = PLAN): void {
    if (events.length === 0) return;
    const seq = this.entries.length + 1;
    const by = { kind: "executor" as const, id: `executor ${this.epoch}` };
    const entry = {
      requestId: REQUEST,
      tenant: "t",
      planId,
      seq,
      by,
      at: new Date(at),
      writeId: `w${seq}`,
      events,
    };
    this.entries.push(this.epoch > 0 ? { ...entry, epoch: this.epoch } : entry);
  }

  store(): this {
    const stored = { type: "plan.stored", planId: PLAN, version: 1, isValid: true } as const;
    this.append([{ ...stored, carried: [], settled: [], unanswered: [] }, { type: "execution.asked" }]);
    return this;
  }

  take(at = this.entries.length): void {
    const from = this.epoch > 0 ? `executor ${this.epoch}` : null;
    this.epoch += 1;
    this.append([{ type: "lease.taken", worker: `executor ${this.epoch}`, epoch: this.epoch, from }], at);
  }

  read(upTo = this.entries.length): FoldedRequest {
    return fold(emptyRequest(REQUEST), this.entries.slice(0, upTo));
  }

  planAt(upTo = this.entries.length) {
    const plan = this.read(upTo).plans.get(PLAN);
    if (!plan) throw new TypeError("no plan was stored");
    return plan;
  }
}

/**
 * Writes what a run tells.
 * @param isNoted - the intents that need not be durable before their calls: they come with the result
 */
function writerOf(journal: Journal, isNoted: (call: Call) => boolean = () => false): JournalWriter {
  let ids = journal.entries.length * 1_000;
  const open = new Map<string, StartedAttempt>();
  const noted = new Set<StartedAttempt>();
  const ended = new Map<EndedAttempt, Set<string>>();
  const turn = (records: readonly StepRecord[]): JournalEvent[] => {
    const keys = new Set(records.map(({ key }) => key));
    const ends = [...ended]
      .filter(([, units]) => [...units].some((key) => keys.has(key)))
      .map(([end]) => end);
    const started = [...noted].filter(({ attemptId }) => ends.some((end) => end.attemptId === attemptId));
    for (const end of ends) ended.delete(end);
    for (const attempt of started) noted.delete(attempt);
    return turnEvents({ started, ended: ends, records });
  };
  return {
    started(call, at) {
      ids += 1;
      const kept = { value: call.arguments, sizeBytes: JSON.stringify(call.arguments).length };
      const begun = { call, attemptId: `a${ids}`, argsHash: "h", arguments: kept, at: new Date(at) };
      open.set(call.key, begun);
      if (isNoted(call)) noted.add(begun);
      else journal.append(turnEvents({ started: [begun], ended: [], records: [] }), at);
    },
    ended(call, outcome, at) {
      const begun = open.get(call.key);
      if (!begun || outcome.type === "deferred") return;
      const error = outcome.type === "failed" ? outcome.error : null;
      const isUnsent = isUnreachable(outcome) || isUnansweredLookup(call, outcome);
      const lost = outcome.type === "failed" && outcome.effect === "unknown";
      ended.set(
        {
          units: unitKeysOf(call),
          attemptId: begun.attemptId,
          outcome: lost ? "unknown" : outcome.type,
          error: error && { ...error, data: error.data ?? null },
          at: new Date(at),
          durationMs: at - begun.at.getTime(),
          isUnsent,
        },
        new Set(unitKeysOf(call)),
      );
    },
    recorded: (records, at) => journal.append(turn(records), at),
    finished(command, at) {
      const { status, outputs, error } = command;
      const told = error ? { code: error.code, message: error.message, retryable: error.retryable } : null;
      journal.append([...turn(command.records), { type: "plan.ended", status, outputs, error: told }], at);
    },
  };
}

/** What the engine goes by, of a unit's record. */
const essence = ({ key, status, output, mayHaveActed, approved }: StepRecord) => ({
  key,
  status,
  output,
  mayHaveActed: mayHaveActed ?? false,
  approved: approved ?? false,
});

/**
 * @param isEnded - in the grace of a plan that is being ended, tries that found the server away are counted
 *   each
 */
function compare(journal: Journal, records: Iterable<StepRecord>, isEnded: boolean): void {
  const toEntry = (record: StepRecord) =>
    [record.key, { ...essence(record), ...(!isEnded && { attempts: record.attempts }) }] as const;
  expect(new Map(recordsOf(journal.planAt()).map(toEntry))).toEqual(new Map([...records].map(toEntry)));
}

const STEPS = ["read", "keyed", "asked", "unknown", "list", "batch", "never", "none"] as const;
const aPlan = fc
  .array(fc.record({ kind: fc.constantFrom(...STEPS), after: fc.array(fc.nat(6), { maxLength: 2 }) }), {
    minLength: 1,
    maxLength: 7,
  })
  .map((steps) =>
    planOf(
      steps.map(({ kind, after }, index) => {
        const id = `s${index}`;
        const dependsOn = [...new Set(after.filter((one) => one < index).map((one) => `s${one}`))];
        const each = (name: string) => ({
          items: [1, 2, 3, 4],
          do: { tool: name, arguments: { x: "<<item>>" } },
        });
        if (kind === "list") return { id, dependsOn, forEach: each("keyed") };
        if (kind === "batch") return { id, dependsOn, forEach: each("batched") };
        if (kind === "none") return { id, dependsOn, forEach: { items: [], do: { tool: "keyed" } } };
        if (kind === "never") return { id, dependsOn, tool: "read", when: { eq: [1, 2] } };
        return { id, dependsOn, tool: kind, arguments: { x: index } };
      }),
    ),
  );

/** How calls end, by their key and attempt. */
const outcomesOf = (kinds: readonly number[]) => (call: Call) => {
  const error = { code: "X", message: "x", retryable: true };
  switch (kinds[(call.key.length * 3 + call.attempt) % kinds.length]) {
    case 1:
      return { type: "failed", error, effect: "none" } as const;
    case 2:
      return { type: "failed", error, effect: "unknown" } as const;
    case 3:
      // Of a look-up "none" would say that the call never happened.
      return {
        type: "failed",
        error: { ...error, code: "TOOL_UNREACHABLE" },
        effect: call.verify ? "unknown" : "none",
      } as const;
    case 4:
      return failed();
    default: {
      const { list } = call.arguments;
      return completed(Array.isArray(list) ? list.map((one) => ({ got: one })) : { of: call.key });
    }
  }
};

const aRun = {
  plan: aPlan,
  // Where every answer is lost, operators have much to say.
  kinds: fc.oneof(
    { weight: 4, arbitrary: fc.array(fc.nat({ max: 6 }), { minLength: 5, maxLength: 9 }) },
    { weight: 1, arbitrary: fc.constant([2]) },
  ),
  crashes: fc.array(fc.nat({ max: 30 }), { maxLength: 3 }),
  cancelAt: fc.option(fc.nat({ max: 60 }), { nil: undefined }),
  words: fc.array(
    fc.record({
      key: fc.constantFrom("s0", "s1", "s0[0]", "s0[1]", "s0[3]", "s1[0]", "s1[1]", "s2[0]", "s2[2]"),
      type: fc.constantFrom("completed", "failed", "retry"),
      at: fc.nat({ max: 30_000 }),
    }),
    { maxLength: 8 },
  ),
};

/** What an operator says of calls in doubt, where there are any. */
interface Word {
  key: string;
  type: Resolution["type"];
  at: number;
}

function toEvent({ key, type, at }: Word): EngineEvent {
  const error = { code: "SETTLED_AS_FAILED", message: "it is not there", retryable: false };
  if (type === "completed") return { type: "resolve", key, at, resolution: { type, output: "by hand" } };
  return { type: "resolve", key, at, resolution: type === "failed" ? { type, error } : { type } };
}

const DEADLINE = 60_000;

/**
 * Runs a plan with crashes, each time from what `records` gives; and tells after each life of an executor.
 */
function live(
  {
    plan,
    kinds,
    crashes,
    cancelAt,
    words,
  }: {
    plan: Plan;
    kinds: readonly number[];
    crashes: readonly number[];
    cancelAt: number | undefined;
    words: readonly Word[];
  },
  journal: Journal,
  isNoted?: (call: Call) => boolean,
) {
  journal.store();
  let last: ReturnType<typeof simulate> | undefined;
  for (const crashAfterEvents of [...crashes, undefined]) {
    journal.take();
    const options: SimulateOptions = {
      outcome: outcomesOf(kinds),
      writeMs: 3,
      records: recordsOf(journal.planAt()),
      journal: writerOf(journal, isNoted),
      ...(crashAfterEvents !== undefined && { crashAfterEvents }),
      // Look-ups that are never answered end with it.
      events: [
        { type: "deadline", at: DEADLINE },
        ...words.map(toEvent),
        ...(cancelAt === undefined ? [] : [{ type: "cancel", at: cancelAt, reason: "enough" } as const]),
      ],
    };
    last = simulate(plan, EFFECT_TOOLS, options);
    if (!isNoted) compare(journal, last.records.values(), cancelAt !== undefined || last.endedAt >= DEADLINE);
    if (last.finish) break;
  }
  return last;
}

test("what a journal says of the units is what is durable of them, whatever happens to the run", () => {
  fc.assert(
    fc.property(fc.record(aRun), (run) => {
      const journal = new Journal();
      const last = live(run, journal);
      const plan = journal.planAt();
      if (last?.finish)
        expect(plan).toMatchObject({ status: last.finish.status, outputs: last.finish.outputs });
      for (const entry of journal.entries) expect(JournalEntrySchema.parse(entry)).toEqual(entry);
    }),
    { numRuns: 300 },
  );
});

test("calls that only read may be told with their results: a crash repeats them, and the plan ends as it would have", () => {
  fc.assert(
    fc.property(fc.record({ ...aRun, kinds: fc.constant([0]), words: fc.constant([]) }), (run) => {
      const journal = new Journal();
      const last = live(run, journal, ({ mayAct }) => !mayAct);
      expect(journal.planAt().status).toBe(last?.finish?.status ?? "RUNNING");
      for (const { status, attempts } of journal.planAt().units.values())
        if (status === "COMPLETED") for (const { endedAt } of attempts) expect(endedAt).not.toBeNull();
    }),
  );
});

test("folding a part and then the rest gives what folding all gives, and changes nothing that was given away", () => {
  fc.assert(
    fc.property(fc.record(aRun), fc.nat(), (run, place) => {
      const journal = new Journal();
      live(run, journal);
      const split = place % (journal.entries.length + 1);
      const before = journal.read(split);
      const copy = structuredClone(before);
      expect(fold(before, journal.entries.slice(split))).toEqual(journal.read());
      expect(before).toEqual(copy);
    }),
  );
});

test("a fold that leaves out any event of a run differs or is refused", () => {
  const steps = [
    { id: "a", tool: "keyed", arguments: {} },
    { id: "each", dependsOn: ["a"], forEach: { items: [1, 2], do: { tool: "keyed", arguments: {} } } },
  ];
  const journal = new Journal();
  live({ plan: planOf(steps), kinds: [0], crashes: [3], cancelAt: undefined, words: [] }, journal);
  const whole = journal.read();
  for (const [index, entry] of journal.entries.entries()) {
    for (const left of entry.events) {
      // The first version is there without an entry.
      if (left.type === "plan.stored") continue;
      const events = entry.events.filter((event) => event !== left);
      const read = () => fold(emptyRequest(REQUEST), journal.entries.with(index, { ...entry, events }));
      let without: FoldedRequest | string;
      try {
        without = read();
      } catch (error) {
        without = String(error);
      }
      expect({ left, without }).not.toEqual({ left, without: whole });
    }
  }
});

test("a plan moves by its controls", () => {
  const journal = new Journal().store();
  const status = () => journal.planAt().status;
  const statuses = [status()];
  const tell = (...events: JournalEvent[]) => {
    journal.append(events, journal.entries.length);
    statuses.push(status());
  };
  const released = { type: "lease.released", waitReason: "paused", dueAt: null } as const;
  tell({ type: "pause.asked" });
  tell({ type: "resume.asked" });
  journal.take();
  tell({ type: "pause.asked" });
  tell({ ...released, status: "PAUSED" });
  tell({ type: "resume.asked" });
  journal.take();
  tell({ type: "pause.asked" });
  tell({ type: "resume.asked" });
  // The owner has not heard of the second control: what was asked for holds.
  tell({ ...released, status: "PAUSED" });
  journal.take();
  tell({ ...released, status: "WAITING", waitReason: "approval", dueAt: new Date(9) });
  expect(journal.planAt()).toMatchObject({ waitReason: "approval", dueAt: new Date(9) });
  expect(journal.read().owner).toBeNull();
  tell({ type: "approval.given", stepId: "a", approved: true, approvalHash: "h", reason: null });
  tell({ type: "doubt.resolved", key: "b", attempt: 1, resolution: { type: "retry" } });
  tell({ type: "cancel.asked" });
  journal.take();
  expect(journal.read().owner).toEqual({ worker: "executor 4", epoch: 4 });
  tell({ type: "plan.ended", status: "CANCELLED", outputs: {}, error: null });
  expect(statuses.join(" ")).toBe(
    "QUEUED PAUSED QUEUED RUNNING PAUSED QUEUED RUNNING RUNNING QUEUED WAITING WAITING WAITING CANCELLING CANCELLED",
  );
  const by = "executor 3";
  expect(journal.planAt()).toMatchObject({
    approvals: [{ stepId: "a", approved: true, approvalHash: "h", reason: null, by }],
    resolutions: [{ key: "b", attempt: 1, resolution: { type: "retry" }, by }],
    cancelAskedAt: expect.any(Date),
    pauseAskedAt: null,
    waitReason: null,
  });
});

const aCall = (key: string): Call => ({
  key,
  stepId: key,
  attempt: 1,
  tool: "keyed",
  arguments: {},
  effectClass: "K",
  mayAct: true,
  timeoutMs: 1,
});
const begun = (key: string, attemptId: string, attempt = 1): StartedAttempt => ({
  call: { ...aCall(key), attempt },
  attemptId,
  argsHash: "h",
  arguments: { value: {}, sizeBytes: 2 },
  at: new Date(attempt),
});
const over = (key: string, attemptId: string, more: Partial<EndedAttempt> = {}): EndedAttempt => ({
  units: [key],
  attemptId,
  outcome: "failed",
  error: null,
  at: new Date(50),
  durationMs: 5,
  ...more,
});
const events = (turn: Partial<Parameters<typeof turnEvents>[0]>) =>
  turnEvents({ started: [], ended: [], records: [], ...turn });

test("tries in a row that found the server away are one attempt, and one whose worker was lost is told as that", () => {
  const journal = new Journal().store();
  journal.take();
  for (const [id, attempt] of [
    ["a1", 1],
    ["a2", 1],
    ["a3", 1],
  ] as const)
    journal.append(
      events({ started: [begun("s", id, attempt)], ended: [over("s", id, { isUnsent: true })] }),
    );
  journal.append(events({ started: [begun("s", "a4", 2)] }));
  journal.take();
  journal.append(events({ started: [begun("s", "a5", 3)] }));
  const [unit] = journal.planAt().units.values();
  expect(unit?.attempts).toMatchObject([
    { attemptId: "a3", attempt: 1, unsent: { tries: 3, since: new Date(50) }, worker: "executor 1" },
    { attemptId: "a4", outcome: "unknown", error: { code: "EXECUTOR_LOST" }, worker: "executor 1" },
    { attemptId: "a5", outcome: null, worker: "executor 2" },
  ]);
  expect(recordsOf(journal.planAt())).toMatchObject([{ attempts: 3, unsent: 1, mayHaveActed: true }]);
});

test("a batch that goes out again whole changes nothing of those of its items that are over", () => {
  const items = [0, 1].map((item) => ({ key: `each[${item}]`, stepId: "each", item }));
  const call = { ...aCall("each[0..1]"), stepId: "each", items: [0, 1] };
  const units = items.map(({ key }) => key);
  const journal = new Journal().store();
  journal.take();
  journal.append(events({ records: items.map((item) => ({ ...item, status: "PENDING", attempts: 0 })) }));
  journal.append(events({ started: [{ ...begun("each", "a1"), call }] }));
  const [first] = items;
  const done: StepRecord = { ...first!, status: "COMPLETED", attempts: 1, output: 1 };
  journal.append(events({ ended: [over("each", "a1", { units })], records: [done] }));
  const before = journal.planAt().units.get("each[0]");
  journal.take();
  journal.append(
    events({
      started: [{ ...begun("each", "a2"), call: { ...call, attempt: 2 } }],
      ended: [over("each", "a2", { units })],
    }),
  );
  const now = journal.planAt().units;
  expect(now.get("each[0]")).toEqual(before);
  expect(now.get("each[1]")).toMatchObject({
    status: "RUNNING",
    attempts: [{ attempt: 1 }, { attempt: 2 }],
  });
});

test("a version begins with what it carries over, which is never called again, and with the calls that were not answered", () => {
  const journal = new Journal().store();
  journal.take();
  const done: StepRecord = { key: "a", stepId: "a", status: "COMPLETED", attempts: 1 };
  const places = new Map([["a", { id: `${PLAN}/a@1`, sizeBytes: 9_000_000, parts: 1 }]]);
  const turn = {
    started: [begun("a", "a1")],
    ended: [over("a", "a1", { outcome: "completed" })],
    records: [done],
  };
  journal.append(turnEvents(turn, places));
  journal.append([{ type: "plan.ended", status: "FAILED", outputs: {}, error: null }]);
  const planId = "plan_1700000001_bbbbbbbbbbbbbbbbbbbb";
  const unanswered = { key: "b", planId: PLAN, argsHash: "h" };
  const stored = { type: "plan.stored", planId, version: 2, isValid: true } as const;
  journal.append([{ ...stored, carried: ["a"], settled: [], unanswered: [unanswered] }], 5, planId);
  const next = journal.read().plans.get(planId);
  expect(next).toMatchObject({ version: 2, status: "READY" });
  expect(next && recordsOf(next)).toEqual([
    { key: "a", stepId: "a", status: "COMPLETED", attempts: 1, outputBytes: 9_000_000, carried: true },
    {
      key: "b",
      stepId: "b",
      status: "PENDING",
      attempts: 0,
      warnings: [toldAgain(unanswered)],
      unanswered: ["b"],
    },
  ]);
  journal.append([{ type: "execution.asked" }], 6, planId);
  journal.append(events({ started: [begun("a", "a2")] }), 7, planId);
  expect(() => journal.read()).toThrow("a is COMPLETED for good");
});

const ended = { type: "plan.ended", status: "COMPLETED", outputs: {}, error: null } as const;
test.each<[string, (journal: Journal) => void, string]>([
  ["a gap", (journal) => journal.entries.splice(0, 1), "entry 1 was to follow"],
  [
    "another request's entry",
    (journal) => replace(journal, { requestId: "req_2" }),
    "it was read for req_17",
  ],
  [
    "a plan that was not stored",
    (journal) => journal.append([ended], 0, "plan_2"),
    "plan_2 was not stored before",
  ],
  [
    "an owner that was replaced",
    (journal) => {
      journal.take();
      journal.epoch = 1;
      journal.append([ended]);
    },
    "epoch 1 wrote it, which epoch 2 had replaced",
  ],
  [
    "an owner that took no lease",
    (journal) => {
      journal.epoch = 2;
      journal.append([ended]);
    },
    "epoch 2 wrote it, which took no lease",
  ],
  [
    "a lease that is not newer",
    (journal) => journal.append([{ type: "lease.taken", worker: "x", epoch: 1, from: null }]),
    "epoch 1 follows epoch 1",
  ],
  [
    "a release of what no worker holds",
    (journal) => {
      const released = { type: "lease.released", status: "WAITING", waitReason: null, dueAt: null } as const;
      journal.append([released]);
      journal.append([released]);
    },
    "no worker held it",
  ],
  [
    "a lease of a plan that is over",
    (journal) => {
      journal.append([ended]);
      journal.take();
    },
    "ended as COMPLETED, and lease.taken is told of it",
  ],
  [
    "an end of a plan that has ended",
    (journal) => {
      journal.append([ended]);
      journal.append([ended]);
    },
    "ended as COMPLETED, and plan.ended is told of it",
  ],
  [
    "a call of a plan that has ended",
    (journal) => {
      journal.append([ended]);
      journal.append(events({ started: [begun("s", "a1")] }));
    },
    "ended as COMPLETED, and attempt.started is told of it",
  ],
  [
    "a step that changes by itself once its plan has ended",
    (journal) => {
      journal.append([ended]);
      journal.append(events({ records: [{ key: "s", stepId: "s", status: "SKIPPED", attempts: 0 }] }));
    },
    "ended as COMPLETED, and step.changed is told of it",
  ],
  [
    "an end of an unknown attempt",
    (journal) => journal.append(events({ ended: [over("s", "a1")] })),
    "s has no attempt a1 under way",
  ],
  [
    "a second end of an attempt",
    (journal) => {
      journal.append(events({ started: [begun("s", "a1")], ended: [over("s", "a1")] }));
      journal.append(events({ ended: [over("s", "a1")] }));
    },
    "attempt a1 of s had ended before",
  ],
  [
    "a move that the lifecycle does not have",
    (journal) =>
      journal.append(events({ records: [{ key: "s", stepId: "s", status: "COMPLETED", attempts: 0 }] })),
    "s is PENDING, which never becomes COMPLETED",
  ],
  [
    "a call for an item that is not known",
    (journal) => journal.append(events({ started: [begun("each[0]", "a1")] })),
    "each[0] is an item of a list that was not expanded",
  ],
  [
    "a version out of turn",
    (journal) =>
      journal.append(
        [
          {
            type: "plan.stored",
            planId: "plan_3",
            version: 3,
            isValid: true,
            carried: [],
            settled: [],
            unanswered: [],
          },
        ],
        0,
        "plan_3",
      ),
    "version 3 follows 1",
  ],
  [
    "a version behind one that goes on",
    (journal) =>
      journal.append(
        [
          {
            type: "plan.stored",
            planId: "plan_3",
            version: 2,
            isValid: true,
            carried: [],
            settled: [],
            unanswered: [],
          },
        ],
        0,
        "plan_3",
      ),
    "is RUNNING, and another version follows",
  ],
  [
    "a unit carried over that there is not",
    (journal) => {
      journal.append([{ type: "plan.ended", status: "FAILED", outputs: null, error: null }]);
      journal.append(
        [
          {
            type: "plan.stored",
            planId: "plan_3",
            version: 2,
            isValid: true,
            carried: ["x"],
            settled: [],
            unanswered: [],
          },
        ],
        0,
        "plan_3",
      );
    },
    "x is carried over, and there is no such unit",
  ],
])("%s is refused, and the entry is named", (_, spoil, message) => {
  const journal = new Journal().store();
  journal.take();
  spoil(journal);
  expect(() => journal.read()).toThrow(message);
  expect(() => journal.read()).toThrow(/^Entry \d+ of req_/);
});

function replace(journal: Journal, fields: Partial<JournalEntry>): void {
  const [first] = journal.entries;
  if (first) journal.entries[0] = { ...first, ...fields };
}
