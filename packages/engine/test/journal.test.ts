/**
 * The journal of a run contains the state of the run: at every entry, over crashes, and for the engine that
 * continues from it.
 */
import type { Plan } from "@planwright/plan";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type EndedAttempt,
  type EngineEvent,
  effectOfUnit,
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
  resentCallWarning,
  type StartedAttempt,
  type StepRecord,
  turnEvents,
  unitKeysOf,
} from "../src/index.ts";
import {
  type Call,
  completed,
  EFFECT_TOOLS,
  failed,
  type JournalWriter,
  partsOf,
  planOf,
  type SimulateOptions,
  simulate,
} from "./simulate.ts";

const REQUEST = "req_1700000000_aaaaaaaaaaaaaaaaaaaa";
const PLAN = "plan_1700000000_aaaaaaaaaaaaaaaaaaaa";

/** Journal entries as a store would keep them, in order. */
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
 * Writes the journal of a run.
 * @param isNoted - true for calls whose intent need not be durable before the call: it is appended with the
 *   result
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
      const startedAttempt = { call, attemptId: `a${ids}`, argsHash: "h", arguments: kept, at: new Date(at) };
      open.set(call.key, startedAttempt);
      if (isNoted(call)) noted.add(startedAttempt);
      else journal.append(turnEvents({ started: [startedAttempt], ended: [], records: [] }), at);
    },
    ended(call, outcome, at) {
      const startedAttempt = open.get(call.key);
      if (!startedAttempt || outcome.type === "deferred" || outcome.type === "carried") return;
      const error = outcome.type === "failed" ? outcome.error : null;
      const isUnsent = isUnreachable(outcome) || isUnansweredLookup(call, outcome);
      const lost = outcome.type === "failed" && outcome.effect === "unknown";
      ended.set(
        {
          units: unitKeysOf(call),
          attemptId: startedAttempt.attemptId,
          outcome: lost ? "unknown" : outcome.type,
          error: error && { ...error, data: error.data ?? null },
          at: new Date(at),
          durationMs: at - startedAttempt.at.getTime(),
          isUnsent,
        },
        new Set(unitKeysOf(call)),
      );
    },
    recorded: (records, at) => journal.append(turn(records), at),
    finished(command, at) {
      const { status, outputs, error } = command;
      const planError = error
        ? { code: error.code, message: error.message, retryable: error.retryable }
        : null;
      journal.append(
        [...turn(command.records), { type: "plan.ended", status, outputs, error: planError }],
        at,
      );
    },
  };
}

/** The fields of a unit's record that the engine relies on. */
const essence = ({ key, status, output, mayHaveActed, approved }: StepRecord) => ({
  key,
  status,
  output,
  mayHaveActed: mayHaveActed ?? false,
  approved: approved ?? false,
});

/**
 * @param isEnded - the plan is being ended: in its grace period each try that could not reach the server
 *   counts as an attempt
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

/** Outcomes of calls, by key and attempt. */
const outcomesOf = (kinds: readonly number[]) => (call: Call) => {
  const error = { code: "X", message: "x", retryable: true };
  switch (kinds[(call.key.length * 3 + call.attempt) % kinds.length]) {
    case 1:
      return { type: "failed", error, effect: "none" } as const;
    case 2:
      return { type: "failed", error, effect: "unknown" } as const;
    case 3:
      // For a look-up "none" would mean that the call never happened.
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
  // When every answer is lost, operators have many calls to settle.
  kinds: fc.oneof(
    { weight: 4, arbitrary: fc.array(fc.nat({ max: 6 }), { minLength: 5, maxLength: 9 }) },
    { weight: 1, arbitrary: fc.constant([2]) },
  ),
  crashes: fc.array(fc.nat({ max: 30 }), { maxLength: 3 }),
  cancelAt: fc.option(fc.nat({ max: 60 }), { nil: undefined }),
  decisions: fc.array(
    fc.record({
      key: fc.constantFrom("s0", "s1", "s0[0]", "s0[1]", "s0[3]", "s1[0]", "s1[1]", "s2[0]", "s2[2]"),
      type: fc.constantFrom("completed", "failed", "retry"),
      at: fc.nat({ max: 30_000 }),
    }),
    { maxLength: 8 },
  ),
};

/** An operator's decision on a call, if it is in doubt. */
interface OperatorDecision {
  key: string;
  type: Resolution["type"];
  at: number;
}

function toEvent({ key, type, at }: OperatorDecision): EngineEvent {
  const error = { code: "SETTLED_AS_FAILED", message: "it is not there", retryable: false };
  if (type === "completed") return { type: "resolve", key, at, resolution: { type, output: "by hand" } };
  return { type: "resolve", key, at, resolution: type === "failed" ? { type, error } : { type } };
}

const DEADLINE = 60_000;

/**
 * Runs a plan with crashes; each executor continues from the records of the journal. After each executor the
 * journal and the durable records are compared.
 */
function runWithCrashes(
  {
    plan,
    kinds,
    crashes,
    cancelAt,
    decisions,
  }: {
    plan: Plan;
    kinds: readonly number[];
    crashes: readonly number[];
    cancelAt: number | undefined;
    decisions: readonly OperatorDecision[];
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
      // The deadline ends look-ups that are never answered.
      events: [
        { type: "deadline", at: DEADLINE },
        ...decisions.map(toEvent),
        ...(cancelAt === undefined ? [] : [{ type: "cancel", at: cancelAt, reason: "enough" } as const]),
      ],
    };
    last = simulate(plan, EFFECT_TOOLS, options);
    if (!isNoted) compare(journal, last.records.values(), cancelAt !== undefined || last.endedAt >= DEADLINE);
    if (last.finish) break;
  }
  return last;
}

for (const { numRuns, options } of partsOf(300))
  test("the units of a journal equal the durable records, whatever happens to the run", options, () => {
    fc.assert(
      fc.property(fc.record(aRun), (run) => {
        const journal = new Journal();
        const last = runWithCrashes(run, journal);
        const plan = journal.planAt();
        if (last?.finish)
          expect(plan).toMatchObject({ status: last.finish.status, outputs: last.finish.outputs });
        for (const entry of journal.entries) expect(JournalEntrySchema.parse(entry)).toEqual(entry);
      }),
      { numRuns },
    );
  });

test("intents of calls that only read may be appended with their results: a crash repeats the calls, and the plan ends the same", () => {
  fc.assert(
    fc.property(fc.record({ ...aRun, kinds: fc.constant([0]), decisions: fc.constant([]) }), (run) => {
      const journal = new Journal();
      const last = runWithCrashes(run, journal, ({ mayAct }) => !mayAct);
      expect(journal.planAt().status).toBe(last?.finish?.status ?? "RUNNING");
      for (const { status, attempts } of journal.planAt().units.values())
        if (status === "COMPLETED") for (const { endedAt } of attempts) expect(endedAt).not.toBeNull();
    }),
  );
});

test("folding a part and then the rest equals folding all, and does not change returned states", () => {
  fc.assert(
    fc.property(fc.record(aRun), fc.nat(), (run, position) => {
      const journal = new Journal();
      runWithCrashes(run, journal);
      const split = position % (journal.entries.length + 1);
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
  runWithCrashes(
    { plan: planOf(steps), kinds: [0], crashes: [3], cancelAt: undefined, decisions: [] },
    journal,
  );
  const complete = journal.read();
  for (const [index, entry] of journal.entries.entries()) {
    for (const omitted of entry.events) {
      // The first version exists without an entry.
      if (omitted.type === "plan.stored") continue;
      const events = entry.events.filter((event) => event !== omitted);
      const read = () => fold(emptyRequest(REQUEST), journal.entries.with(index, { ...entry, events }));
      let without: FoldedRequest | string;
      try {
        without = read();
      } catch (error) {
        without = String(error);
      }
      expect({ omitted, without }).not.toEqual({ omitted, without: complete });
    }
  }
});

test("a plan moves by its controls", () => {
  const journal = new Journal().store();
  const status = () => journal.planAt().status;
  const statuses = [status()];
  const append = (...events: JournalEvent[]) => {
    journal.append(events, journal.entries.length);
    statuses.push(status());
  };
  const released = { type: "lease.released", waitReason: "paused", dueAt: null } as const;
  append({ type: "pause.asked" });
  append({ type: "resume.asked" });
  journal.take();
  append({ type: "pause.asked" });
  append({ ...released, status: "PAUSED" });
  append({ type: "resume.asked" });
  journal.take();
  append({ type: "pause.asked" });
  append({ type: "resume.asked" });
  // The owner has not seen the second control, which still applies.
  append({ ...released, status: "PAUSED" });
  journal.take();
  append({ ...released, status: "WAITING", waitReason: "approval", dueAt: new Date(9) });
  expect(journal.planAt()).toMatchObject({ waitReason: "approval", dueAt: new Date(9) });
  expect(journal.read().owner).toBeNull();
  append({ type: "approval.given", stepId: "a", approved: true, approvalHash: "h", reason: null });
  append({ type: "doubt.resolved", key: "b", attempt: 1, resolution: { type: "retry" } });
  append({ type: "cancel.asked" });
  journal.take();
  expect(journal.read().owner).toEqual({ worker: "executor 4", epoch: 4 });
  append({ type: "plan.ended", status: "CANCELLED", outputs: {}, error: null });
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
const startedAttempt = (key: string, attemptId: string, attempt = 1): StartedAttempt => ({
  call: { ...aCall(key), attempt },
  attemptId,
  argsHash: "h",
  arguments: { value: {}, sizeBytes: 2 },
  at: new Date(attempt),
});
const endedAttempt = (key: string, attemptId: string, more: Partial<EndedAttempt> = {}): EndedAttempt => ({
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

test("consecutive tries that could not reach the server are one attempt, and an attempt whose worker was lost ends with EXECUTOR_LOST", () => {
  const journal = new Journal().store();
  journal.take();
  for (const [id, attempt] of [
    ["a1", 1],
    ["a2", 1],
    ["a3", 1],
  ] as const)
    journal.append(
      events({
        started: [startedAttempt("s", id, attempt)],
        ended: [endedAttempt("s", id, { isUnsent: true })],
      }),
    );
  journal.append(events({ started: [startedAttempt("s", "a4", 2)] }));
  journal.take();
  journal.append(events({ started: [startedAttempt("s", "a5", 3)] }));
  const [unit] = journal.planAt().units.values();
  expect(unit?.attempts).toMatchObject([
    { attemptId: "a3", attempt: 1, unsent: { tries: 3, since: new Date(50) }, executor: "executor 1" },
    { attemptId: "a4", outcome: "unknown", error: { code: "EXECUTOR_LOST" }, executor: "executor 1" },
    { attemptId: "a5", outcome: null, executor: "executor 2" },
  ]);
  expect(recordsOf(journal.planAt())).toMatchObject([{ attempts: 3, unsent: 1, mayHaveActed: true }]);
});

test("a worker that takes a plan ends the attempts that its predecessor left running", () => {
  const journal = new Journal().store();
  journal.take(1);
  journal.append(events({ started: [startedAttempt("s", "a1", 1)] }), 2);
  journal.take(9);
  const [unit] = journal.planAt().units.values();
  expect(unit).toMatchObject({
    status: "RUNNING",
    attempts: [
      { endedAt: new Date(9), durationMs: null, outcome: "unknown", error: { code: "EXECUTOR_LOST" } },
    ],
  });
});

test("a list runs from the entry that says so, although it has no call of its own", () => {
  const journal = new Journal().store();
  journal.take(1);
  const list = { key: "each", stepId: "each", status: "RUNNING", attempts: 0 } as const;
  journal.append(events({ records: [list] }), 7);
  journal.append(events({ records: [{ ...list, status: "COMPLETED", output: [] }] }), 12);
  expect(journal.planAt().units.get("each")).toMatchObject({
    startedAt: new Date(7),
    finishedAt: new Date(12),
  });
});

test("the items of a list share what is empty, until one of them changes: a list may have 10,000", () => {
  const items = [0, 1, 2].map((item) => ({ key: `each[${item}]`, stepId: "each", item }));
  const journal = new Journal().store();
  journal.take();
  journal.append(events({ records: items.map((item) => ({ ...item, status: "PENDING", attempts: 0 })) }));
  journal.append(events({ started: [startedAttempt("each[0]", "a1")] }));
  const { units } = journal.planAt();
  const [first, second, third] = items.map(({ key }) => units.get(key));
  expect(first?.attempts).toMatchObject([{ attemptId: "a1" }]);
  for (const name of ["attempts", "warnings", "unanswered"] as const) {
    expect(second?.[name]).toEqual([]);
    expect(third?.[name]).toBe(second?.[name]);
  }
});

test.each([
  ["no-effect", "none"],
  ["unknown", "possible"],
] as const)(
  "errors %s of a contract: an item that an answered batch reports as failed had the effect %s",
  (errors, effect) => {
    const items = [0, 1].map((item) => ({ key: `each[${item}]`, stepId: "each", item }));
    const call = { ...aCall("each[0..1]"), stepId: "each", items: [0, 1], errors };
    const units = items.map(({ key }) => key);
    const journal = new Journal().store();
    journal.take();
    journal.append(events({ records: items.map((item) => ({ ...item, status: "PENDING", attempts: 0 })) }));
    journal.append(events({ started: [{ ...startedAttempt("each", "a1"), call }] }));
    const error = { code: "TOOL_FAILED", message: "sold out", retryable: false };
    const failed: StepRecord[] = items.map((item) => ({ ...item, status: "FAILED", attempts: 1, error }));
    const end = endedAttempt("each", "a1", { units, outcome: "completed", effect: "done" });
    journal.append(events({ ended: [end], records: failed }));
    expect([...journal.planAt().units.values()].map(effectOfUnit)).toEqual([effect, effect]);
  },
);

test("a batch that is sent again with all items does not change items that have ended", () => {
  const items = [0, 1].map((item) => ({ key: `each[${item}]`, stepId: "each", item }));
  const call = { ...aCall("each[0..1]"), stepId: "each", items: [0, 1] };
  const units = items.map(({ key }) => key);
  const journal = new Journal().store();
  journal.take();
  journal.append(events({ records: items.map((item) => ({ ...item, status: "PENDING", attempts: 0 })) }));
  journal.append(events({ started: [{ ...startedAttempt("each", "a1"), call }] }));
  const [first] = items;
  const done: StepRecord = { ...first!, status: "COMPLETED", attempts: 1, output: 1 };
  journal.append(events({ ended: [endedAttempt("each", "a1", { units })], records: [done] }));
  const before = journal.planAt().units.get("each[0]");
  journal.take();
  journal.append(
    events({
      started: [{ ...startedAttempt("each", "a2"), call: { ...call, attempt: 2 } }],
      ended: [endedAttempt("each", "a2", { units })],
    }),
  );
  const now = journal.planAt().units;
  expect(now.get("each[0]")).toEqual(before);
  expect(now.get("each[1]")).toMatchObject({
    status: "RUNNING",
    attempts: [{ attempt: 1 }, { attempt: 2 }],
  });
});

test("a version begins with its carried units, which are never called again, and with the unanswered calls", () => {
  const journal = new Journal().store();
  journal.take();
  const done: StepRecord = { key: "a", stepId: "a", status: "COMPLETED", attempts: 1 };
  const places = new Map([["a", { id: `${PLAN}/a@1`, sizeBytes: 9_000_000, parts: 1 }]]);
  const turn = {
    started: [startedAttempt("a", "a1")],
    ended: [endedAttempt("a", "a1", { outcome: "completed" })],
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
    {
      key: "a",
      stepId: "a",
      status: "COMPLETED",
      attempts: 1,
      outputBytes: 9_000_000,
      carriedFrom: { planId: PLAN, key: "a" },
    },
    {
      key: "b",
      stepId: "b",
      status: "PENDING",
      attempts: 0,
      warnings: [resentCallWarning(unanswered)],
      unanswered: ["b"],
    },
  ]);
  journal.append([{ type: "execution.asked" }], 6, planId);
  journal.append(events({ started: [startedAttempt("a", "a2")] }), 7, planId);
  expect(() => journal.read()).toThrow("a has ended as COMPLETED");
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
    "epoch 2 wrote it without a lease",
  ],
  [
    "a lease that is not newer",
    (journal) => journal.append([{ type: "lease.taken", worker: "x", epoch: 1, from: null }]),
    "epoch 1 follows epoch 1",
  ],
  [
    "a release without an owner",
    (journal) => {
      const released = { type: "lease.released", status: "WAITING", waitReason: null, dueAt: null } as const;
      journal.append([released]);
      journal.append([released]);
    },
    "no worker held it",
  ],
  [
    "a lease of a plan that has ended",
    (journal) => {
      journal.append([ended]);
      journal.take();
    },
    "ended as COMPLETED, but lease.taken follows",
  ],
  [
    "an end of a plan that has ended",
    (journal) => {
      journal.append([ended]);
      journal.append([ended]);
    },
    "ended as COMPLETED, but plan.ended follows",
  ],
  [
    "a call of a plan that has ended",
    (journal) => {
      journal.append([ended]);
      journal.append(events({ started: [startedAttempt("s", "a1")] }));
    },
    "ended as COMPLETED, but attempt.started follows",
  ],
  [
    "a step that changes by itself once its plan has ended",
    (journal) => {
      journal.append([ended]);
      journal.append(events({ records: [{ key: "s", stepId: "s", status: "SKIPPED", attempts: 0 }] }));
    },
    "ended as COMPLETED, but step.changed follows",
  ],
  [
    "an end of an unknown attempt",
    (journal) => journal.append(events({ ended: [endedAttempt("s", "a1")] })),
    "s has no running attempt a1",
  ],
  [
    "a second end of an attempt",
    (journal) => {
      journal.append(events({ started: [startedAttempt("s", "a1")], ended: [endedAttempt("s", "a1")] }));
      journal.append(events({ ended: [endedAttempt("s", "a1")] }));
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
    (journal) => journal.append(events({ started: [startedAttempt("each[0]", "a1")] })),
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
    "a version after one that is still running",
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
    "is RUNNING, but another version follows",
  ],
  [
    "a carried unit that does not exist",
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
    "x is carried over, but does not exist",
  ],
  [
    "the end of items that have ended",
    (journal: Journal) => {
      const closed = { type: "items.closed", stepId: "l", from: 0, to: 1, status: "SKIPPED" } as const;
      journal.append([{ type: "items.expanded", stepId: "l", count: 2 }, closed, closed]);
    },
    "all items of l from 0 to 1 have ended",
  ],
  [
    "the end of items that were not expanded",
    (journal: Journal) =>
      journal.append([{ type: "items.closed", stepId: "l", from: 0, to: 1, status: "SKIPPED" }]),
    "l[0] is an item of a list that was not expanded",
  ],
])("%s is refused, and the error names the entry", (_, corrupt, message) => {
  const journal = new Journal().store();
  journal.take();
  corrupt(journal);
  expect(() => journal.read()).toThrow(message);
  expect(() => journal.read()).toThrow(/^Entry \d+ of req_/);
});

function replace(journal: Journal, fields: Partial<JournalEntry>): void {
  const [first] = journal.entries;
  if (first) journal.entries[0] = { ...first, ...fields };
}

test("the items of one call are told apart by their hashes in linear time", () => {
  const length = 10_000;
  let reads = 0;
  /** Counts the reads of its items: to look for each of them in it would take millions. */
  const counted = (items: string[]): string[] =>
    new Proxy(items, {
      get(target, name, receiver) {
        reads += 1;
        return Reflect.get(target, name, receiver);
      },
    });
  const units = Array.from({ length }, (_, index) => `list[${index}]`);
  const journal = new Journal();
  journal.append([
    { type: "lease.taken", worker: "executor 0", epoch: 1, from: null },
    { type: "items.expanded", stepId: "list", count: length },
    {
      type: "attempt.started",
      attemptId: "a",
      attempt: 1,
      stepId: "list",
      units: counted(units),
      tool: "t",
      effectClass: "K",
      mayAct: true,
      argsHash: "all",
      itemHashes: counted(units.map((key) => `hash of ${key}`)),
      arguments: { sizeBytes: 2, value: {} },
      at: new Date(0),
    },
  ]);
  const folded = fold(emptyRequest(REQUEST), journal.entries).plans.get(PLAN)?.units;
  expect(folded?.get("list[9999]")?.itemHash).toBe("hash of list[9999]");
  expect(reads).toBeGreaterThanOrEqual(length);
  expect(reads).toBeLessThan(20 * length);
});

/** The end of each item of a list of 12 that is stopped; before that some have ended or are running. */
const anyStop = fc.array(
  fc.record({
    before: fc.constantFrom("new", "new", "new", "running", "ended"),
    status: fc.constantFrom<StepRecord["status"]>("CANCELLED", "CANCELLED", "CANCELLED", "SKIPPED", "FAILED"),
    reason: fc.constantFrom("too dear", "too dear", "too dear", "too late", undefined),
    extra: fc.constantFrom<Partial<StepRecord>>({}, {}, {}, {}, { warnings: ["odd"] }, { approved: true }),
    isLeftOut: fc.constantFrom(false, false, false, true),
  }),
  { minLength: 12, maxLength: 12 },
);

test("items that end together by one event are the same as those that end by an event each", () => {
  let joined = 0;
  fc.assert(
    fc.property(anyStop, (items) => {
      const records = items.map(({ before, status: drawn, reason, extra }, item): StepRecord => {
        const status = before === "running" && drawn === "SKIPPED" ? "CANCELLED" : drawn;
        const error = reason && { code: "CANCELLED", message: reason, retryable: false };
        const unit = { key: `list[${item}]`, stepId: "list", item, attempts: 0 };
        return { ...unit, status, ...(error && { error }), ...extra };
      });
      const isBefore = (before: string) => (_: StepRecord, item: number) => items[item]?.before === before;
      const stopped = records.filter((_, item) => items[item]?.before !== "ended" && !items[item]?.isLeftOut);
      const eventsOf = (of: readonly StepRecord[], isEnded?: (key: string) => boolean) =>
        turnEvents({ started: [], ended: [], records: of }, new Map(), isEnded);
      const journalWith = (stop: (isEnded: (key: string) => boolean) => JournalEvent[]) => {
        const journal = new Journal().store();
        journal.take();
        journal.append([{ type: "items.expanded", stepId: "list", count: items.length }], 10);
        const state = (status: StepRecord["status"]) => (record: StepRecord) => ({ ...record, status });
        journal.append(eventsOf(records.filter(isBefore("running")).map(state("RUNNING"))), 20);
        for (const record of records.filter(isBefore("ended")).map(state("SKIPPED")))
          journal.append(eventsOf([record]), 30);
        const { units } = journal.planAt();
        const events = stop((key) => units.get(key)?.status === "SKIPPED");
        journal.append(events, 40);
        for (const entry of journal.entries) JournalEntrySchema.parse(entry);
        return { events, request: journal.read() };
      };
      const one = journalWith((isEnded) => eventsOf(stopped, isEnded));
      const each = journalWith(() => stopped.flatMap((record) => eventsOf([record])));
      expect(one.request).toEqual(each.request);
      expect(one.events.length).toBeLessThanOrEqual(each.events.length);
      expect(each.events.every(({ type }) => type === "step.changed")).toBe(true);
      joined += each.events.length - one.events.length;
    }),
  );
  expect(joined).toBeGreaterThan(0);
});

test("a stopped list is one event, also around items that its condition has excluded", () => {
  const records = Array.from({ length: 10_000 }, (_, item): StepRecord => {
    const error = { code: "CANCELLED", message: "stop", retryable: false };
    return { key: `list[${item}]`, stepId: "list", item, attempts: 0, status: "CANCELLED", error };
  });
  const open = records.filter(({ item = 0 }) => item % 2 === 0);
  const { error } = records[0] ?? {};
  const ended = new Set(records.filter((record) => !open.includes(record)).map(({ key }) => key));
  const turn = { started: [], ended: [], records: open };
  expect(turnEvents(turn, new Map(), (key) => ended.has(key))).toEqual([
    { type: "items.closed", stepId: "list", from: 0, to: 9_998, status: "CANCELLED", error },
  ]);
  expect(turnEvents(turn)).toHaveLength(open.length);
});
