/**
 * Every number that is shown about a run can be recomputed from its journal: a small second computation from the bare
 * events compares attempts, starts, ends and durations at every entry of simulated journals, and the sentence of the
 * diagnosis about the oldest running call.
 */
import {
  emptyRequest,
  type FoldedPlan,
  type FoldedUnit,
  fold,
  type JournalEntry,
  type JournalEvent,
  timeUse,
  unitTime,
} from "@planwright/engine";
import { durationText, isForPerson, isTerminalStepStatus, type StepStatus } from "@planwright/plan";
import { diagnosedUnits, type PlanDocument } from "@planwright/store";
import { expect, test } from "vitest";
import { diagnose, lostExecutors } from "../../../../services/api/src/diagnosis/read-diagnosis.ts";
import { planTimes, shownExpiryOf } from "../../../../services/api/src/plans/step-views.ts";
import { factsOf, planOf, requestOf, stepOf } from "../../../../services/api/test/diagnosis/facts.ts";
import { simulateSeed } from "./simulate-seed.ts";

/** `SHOWN_NUMBERS_SEEDS=100` for more. */
const SEEDS = Number(process.env["SHOWN_NUMBERS_SEEDS"] ?? 5);

/**
 * Seeds with a list that fails, and with a plan that is PARTIAL because of failed items. They have to be searched for
 * again when the worlds draw differently.
 */
const FAILED_LIST = 15;
const FAILED_ITEMS = 281;

/** The journal of a request, and its plans' documents as they were written. */
interface Story {
  entries: JournalEntry[];
  /** Each with the number of entries that were there. */
  documents: { plan: PlanDocument; seen: number }[];
}

/** The requests of a simulated world. */
async function storiesOf(seed: number): Promise<Story[]> {
  const stories = new Map<string, Story>();
  const storyOf = (requestId: string): Story => {
    const story = stories.get(requestId) ?? { entries: [], documents: [] };
    stories.set(requestId, story);
    return story;
  };
  await simulateSeed(seed, {
    onEntry({ _id, ...document }) {
      const entry = document as unknown as JournalEntry;
      storyOf(entry.requestId).entries.push(entry);
    },
    onPlan(plan) {
      const { entries, documents } = storyOf(plan.requestId);
      documents.push({ plan: structuredClone(plan), seen: entries.length });
    },
  });
  return [...stories.values()];
}

/** A call as its bare events tell it. */
interface BareCall {
  from: number;
  until: number | null;
  isUnsent: boolean;
  /** The call was made once more after a doubt. */
  isOver: boolean;
  durationMs: number | null;
}

/** A wait as the events tell it. */
interface BareWait {
  reason: string;
  from: number;
  until: number | null;
}

/** How long at least one of these waits for people lasted between two times. */
function peopleMs(waits: readonly BareWait[], from: number, to: number): number {
  let sum = 0;
  let counted = from;
  for (const wait of waits.toSorted((a, b) => a.from - b.from)) {
    if (!isForPerson(wait.reason)) continue;
    const begin = Math.max(counted, wait.from);
    const end = Math.min(to, wait.until ?? to);
    if (end > begin) sum += end - begin;
    counted = Math.max(counted, end);
  }
  return sum;
}

/** A control turns a wait into another, also one that the claim in the same entry has ended. */
function turn(waits: BareWait[], at: number, entryAt: number, to: (reason: string) => string | null): void {
  const last = waits.at(-1);
  const reason = last && to(last.reason);
  if (!last || !reason) return;
  if (last.until !== null && (last.until !== entryAt || at >= last.until)) return;
  const from = Math.max(at, last.from);
  waits.push({ reason, from, until: last.until });
  last.until = from;
}

const CONTROLS: Readonly<Record<string, (reason: string) => string | null>> = {
  "approval.given": (reason) => (reason === "approval" || reason === "in doubt" ? "no worker" : null),
  "doubt.resolved": (reason) => (reason === "approval" || reason === "in doubt" ? "no worker" : null),
  "cancel.asked": (reason) => (isForPerson(reason) ? "no worker" : null),
  "pause.asked": (reason) => (reason === "paused" ? null : "paused"),
  "resume.asked": (reason) => (reason === "paused" ? "no worker" : null),
};

/** The events, with one for each item of those by which several items end. @param hasEnded - read at each event */
function* oneByOne(
  events: readonly JournalEvent[],
  hasEnded: (key: string) => boolean,
): Generator<JournalEvent> {
  for (const event of events) {
    if (event.type !== "items.closed") {
      yield event;
      continue;
    }
    const { stepId, from, to, status, error } = event;
    for (let item = from; item <= to; item++) {
      const key = `${stepId}[${item}]`;
      if (!hasEnded(key)) yield { type: "step.changed", key, stepId, item, status, ...(error && { error }) };
    }
  }
}

/** What the events of one plan say about its units, without any state of the fold. */
function recompute(entries: readonly JournalEntry[], planId: string, now: number) {
  const calls = new Map<string, BareCall[]>();
  const began = new Map<string, number>();
  const ended = new Map<string, number>();
  const ids = new Map<string, BareCall>();
  const statuses = new Map<string, StepStatus>();
  const carried = new Set<string>();
  const hasEnded = (key: string) => carried.has(key) || isTerminalStepStatus(statuses.get(key) ?? "PENDING");
  /** Items that the condition of their list left out. */
  const leftOut = new Set<string>();
  const expiries = new Map<string, number>();
  const waits: BareWait[] = [];
  const unitWaits = new Map<string, BareWait[]>();
  let lost = 0;
  let isPaused = false;
  let isCancelled = false;
  let lastAt = 0;
  let planStart: number | null = null;
  let planEnd: number | null = null;
  for (const { planId: of, at, events } of entries) {
    const beforeAt = lastAt;
    lastAt = at.getTime();
    if (of !== planId) continue;
    for (const event of oneByOne(events, hasEnded)) {
      if (event.type === "plan.stored") for (const key of event.carried) carried.add(key);
      const unowned = isPaused && !isCancelled ? "paused" : "no worker";
      if (event.type === "lease.taken") {
        planStart ??= at.getTime();
        for (const call of ids.values()) call.until ??= at.getTime();
        lost = event.from === null ? 0 : lost + 1;
        const open = waits.at(-1);
        if (open) open.until ??= at.getTime();
        if (event.from !== null && beforeAt > 0)
          waits.push({ reason: unowned, from: beforeAt, until: at.getTime() });
      }
      if (event.type === "lease.released") {
        lost = 0;
        const isResumed = event.status === "PAUSED" && !isPaused;
        const reason = event.status === "QUEUED" || isResumed ? unowned : (event.waitReason ?? "dependency");
        waits.push({ reason, from: at.getTime(), until: null });
      }
      const control = CONTROLS[event.type];
      if (control && "asked" in event) {
        if (event.type === "pause.asked") isPaused = true;
        if (event.type === "resume.asked") isPaused = false;
        if (event.type === "cancel.asked") isCancelled = true;
        turn(waits, (event.asked?.at ?? at).getTime(), at.getTime(), control);
      }
      if (event.type === "plan.ended") planEnd = at.getTime();
      if (event.type === "attempt.started")
        for (const key of event.units) {
          // The items of a batch that have ended are not called again.
          if (ended.has(key) && event.units.some((one) => !ended.has(one))) continue;
          const call = {
            from: event.at.getTime(),
            until: null,
            isUnsent: false,
            isOver: false,
            durationMs: null,
          };
          statuses.set(key, "RUNNING");
          ids.set(`${key} ${event.attemptId}`, call);
          calls.set(key, [...(calls.get(key) ?? []), call]);
          if (!began.has(key)) began.set(key, call.from);
        }
      if (event.type === "attempt.ended")
        for (const key of event.units) {
          const call = ids.get(`${key} ${event.attemptId}`);
          if (!call || ended.has(key)) continue;
          call.until = event.at.getTime();
          call.isUnsent = event.isUnsent === true;
          call.durationMs = event.durationMs;
        }
      if (event.type === "step.changed") {
        const again = statuses.get(event.key) === "IN_DOUBT" && event.status === "PENDING";
        for (const call of again ? (calls.get(event.key) ?? []) : []) call.isOver = true;
        statuses.set(event.key, event.status);
        if (event.status === "SKIPPED" && event.error?.code === "CONDITION_FALSE") leftOut.add(event.key);
        expiries.delete(event.key);
        if (event.expiresAt) expiries.set(event.key, event.expiresAt.getTime());
        const own = unitWaits.get(event.key) ?? [];
        const open = own.at(-1);
        if (open) open.until ??= at.getTime();
        const reason = PERSON_WAITS[event.status];
        if (reason) unitWaits.set(event.key, [...own, { reason, from: at.getTime(), until: null }]);
      }
      if (event.type === "step.changed" && !event.carriedFrom) {
        const isActive = event.status === "RUNNING" || event.status === "RETRYING";
        if (isActive && !began.has(event.key)) began.set(event.key, at.getTime());
        if (isTerminalStepStatus(event.status)) {
          ended.set(event.key, at.getTime());
          lost = 0;
        }
      }
    }
  }
  const until = planEnd ?? now;
  const totalMs = planStart === null ? 0 : Math.max(0, until - planStart);
  const waitedMs = planStart === null ? 0 : peopleMs(waits, planStart, until);
  return {
    calls,
    began,
    ended,
    statuses,
    leftOut,
    expiries,
    waits,
    unitWaits,
    lost,
    planEnd,
    totalMs,
    waitedMs,
  };
}

const PERSON_WAITS: Readonly<Record<string, string>> = { WAITING_APPROVAL: "approval", IN_DOUBT: "in doubt" };

/** The own time of a unit that has ended, and how long it waited for people. */
function bareTime(bare: ReturnType<typeof recompute>, key: string): string | null {
  const [from, to] = [bare.began.get(key), bare.ended.get(key)];
  if (from === undefined || to === undefined) return null;
  const own = bare.unitWaits.get(key) ?? [];
  const all = [...bare.waits, ...own];
  const ownMs = Math.max(0, to - from) - peopleMs(all, from, to);
  return `${ownMs} ms and ${peopleMs(all, Math.min(from, own[0]?.from ?? from), to)} ms`;
}

/** Numbers of items by list and status. */
function countsText(units: Iterable<readonly [list: string, status: string]>): string {
  const counts = new Map<string, number>();
  for (const [list, status] of units)
    counts.set(`${list} ${status}`, (counts.get(`${list} ${status}`) ?? 0) + 1);
  return [...counts]
    .map(([name, count]) => `${name} ${count}`)
    .toSorted()
    .join(", ");
}

/** Tries in a row that could not reach the server are one attempt, unless a doubt was settled between them. */
const attemptsOf = (calls: readonly BareCall[]) =>
  calls.filter(({ isUnsent }, index) => {
    const before = calls[index - 1];
    return !(isUnsent && before?.isUnsent && !before.isOver);
  }).length;

/** The differences between what is shown about a plan and what its events say. */
function differences(plan: FoldedPlan, entries: readonly JournalEntry[], now: number): string[] {
  const bare = recompute(entries, plan.planId, now);
  const found: string[] = [];
  const compare = (what: string, shown: unknown, told: unknown) => {
    if (shown !== told) found.push(`${what}: shown ${String(shown)}, told ${String(told)}`);
  };
  const own = [...plan.units.values()].filter(({ carriedFrom }) => carriedFrom === null);
  for (const unit of own) {
    const { key, attempts, startedAt, finishedAt, status } = unit;
    const calls = bare.calls.get(key) ?? [];
    compare(`attempts of ${key}`, attempts.length, attemptsOf(calls));
    const open = attempts.filter(({ endedAt }) => endedAt === null).length;
    compare(`running calls of ${key}`, open, calls.filter(({ until }) => until === null).length);
    compare(`start of ${key}`, startedAt?.getTime(), bare.began.get(key));
    if (isTerminalStepStatus(status)) compare(`end of ${key}`, finishedAt?.getTime(), bare.ended.get(key));
    if (isTerminalStepStatus(status)) {
      const time = unitTime(unit, plan.waits);
      const shown = time && `${time.ownMs} ms and ${time.waitedForPeopleMs} ms`;
      compare(`time of ${key}`, shown, bareTime(bare, key));
    }
    const sent = (all: readonly { durationMs: number | null }[]) => all.map((one) => one.durationMs).join();
    if (!calls.some(({ isUnsent }) => isUnsent))
      compare(`durations of the calls of ${key}`, sent(attempts), sent(calls));
  }
  const items = own.flatMap(({ stepId, item, status }) =>
    item === undefined ? [] : [{ stepId, item, status }],
  );
  const shownCounts = [...diagnosedUnits(items).itemCounts].flatMap(([list, counts]) =>
    Object.entries(counts).flatMap(([status, count]) =>
      Array.from({ length: count }, () => [list, status] as const),
    ),
  );
  const toldCounts = items.map(({ stepId, item }) => {
    return [stepId, bare.statuses.get(`${stepId}[${item}]`) ?? "PENDING"] as const;
  });
  compare("numbers of items by state", countsText(shownCounts), countsText(toldCounts));
  const use = timeUse(plan, new Date(now));
  compare("time of the plan", use.totalMs, bare.totalMs);
  compare("own time of the plan", use.ownMs, bare.totalMs - bare.waitedMs);
  const parts = Object.values(use.waitedMs).reduce((sum, ms) => sum + ms, use.callsMs + use.otherMs);
  compare("sum of its parts", parts, use.totalMs);
  const isEnd = entries.at(-1)?.events.some(({ type }) => type === "plan.ended") ?? false;
  const shares = isEnd && own.length === plan.units.size ? sharesOf(plan, own, bare) : [];
  return [...found, ...sentenceOf(own, bare, now), ...shares];
}

const SHARE = /(\d+) of (\d+) items? (?:of step '?(\w+)'?(?: \([^)]*\))? failed|succeeded)/;

/**
 * The sentences with a share of items, such as "2 of 5 items of step 'a' failed": in the errors of the plan and of
 * its steps, and in the diagnosis of a plan that has ended.
 */
function sharesOf(
  plan: FoldedPlan,
  units: readonly FoldedUnit[],
  { statuses, leftOut }: ReturnType<typeof recompute>,
): string[] {
  const steps = units.map(({ key, stepId, item = null, status, error }) =>
    stepOf(stepId, { key, item, status, error }),
  );
  const { status, error, finishedAt } = plan;
  const ended = planOf(steps, { status, error, finishedAt });
  const { message } = diagnose(factsOf(requestOf({ status: "PARTIAL", plan: ended }))).cause;
  const namedBy = (text: string) => /[Ss]tep '?(\w+)/.exec(text)?.[1];
  const sentences = [
    { text: message, failures: ["FAILED"], list: namedBy(message) },
    ...[{ error, stepId: namedBy(error?.message ?? "") }, ...units].map((one) => ({
      text: one.error?.message ?? "",
      failures: ["FAILED", "IN_DOUBT"],
      list: one.stepId,
    })),
  ];
  return sentences.flatMap(({ text, failures, list }) => {
    const [found, some, all, named = list] = SHARE.exec(text) ?? [];
    if (found === undefined) return [];
    const called = [...statuses].filter(([key]) => key.startsWith(`${named}[`) && !leftOut.has(key));
    const wanted = found.endsWith("failed") ? failures : ["COMPLETED"];
    const told = `${called.filter(([, one]) => wanted.includes(one)).length} of ${called.length}`;
    return `${some} of ${all}` === told ? [] : [`share of items, ${text}: told ${told}`];
  });
}

/** The differences between what lists and the diagnosis read from a plan's document, and its events. */
async function documentDifferences({ entries, documents }: Story, distort?: (plan: PlanDocument) => void) {
  const found: string[] = [];
  for (const { plan: written, seen } of documents) {
    const plan = distort ? structuredClone(written) : written;
    distort?.(plan);
    const before = entries.slice(0, seen);
    const now = before.at(-1)?.at.getTime() ?? 0;
    const bare = recompute(before, plan._id, now);
    const compare = (what: string, shown: unknown, told: unknown) => {
      if (shown !== told)
        found.push(`${plan._id} at entry ${seen}, ${what}: shown ${String(shown)}, told ${String(told)}`);
    };
    const isUndisturbed = (plan.controls ?? []).length === 0;
    if (plan.status === "WAITING" && plan.waitReason === "approval" && !plan.lease && isUndisturbed) {
      const first = Math.min(...bare.expiries.values());
      compare("expires at", shownExpiryOf(plan)?.getTime(), first);
      compare("first approval", plan.approvalUntil?.getTime(), first);
    }
    const last = before.findLast(({ planId }) => planId === plan._id);
    const hasActed = last?.epoch === plan.epoch && last?.events.every(({ type }) => type !== "lease.taken");
    if (plan.lease && hasActed) {
      const owners = new Set([plan.lease.owner]);
      const finished = plan.progressSeen + (bare.lost === 0 ? 1 : 0);
      compare("lost executors", lostExecutors(plan, finished, { owners }), bare.lost);
    }
    if (plan.status !== "READY" && plan.finishedAt && plan.startedAt) {
      const reads = { waitedForPeopleMs: async () => bare.waitedMs };
      const { durationMs, waitedForPeopleMs } = await planTimes(plan, reads, now);
      // The claim comes before the entry that tells of it.
      const toldMs = (bare.planEnd ?? 0) - plan.startedAt.getTime() - bare.waitedMs;
      compare("end of the row", plan.finishedAt.getTime(), bare.planEnd);
      compare("own time of the row", durationMs, toldMs);
      compare("waited for people of the row", waitedForPeopleMs, bare.waitedMs);
      const counted = Object.values(plan.counts ?? {}).reduce((sum, count) => sum + count, 0);
      compare("steps of the row", counted, plan.plan?.steps.length);
      for (const status of ["FAILED", "SKIPPED", "CANCELLED"] as const) {
        const told = plan.plan?.steps.filter(({ id }) => bare.statuses.get(id) === status).length;
        if (!hasCarried(entries, plan._id)) compare(`${status} of the row`, plan.counts?.[status] ?? 0, told);
      }
    }
  }
  return found;
}

const hasCarried = (entries: readonly JournalEntry[], planId: string) =>
  entries.some(({ events }) =>
    events.some((one) => one.type === "plan.stored" && one.planId === planId && one.carried.length > 0),
  );

/** The sentence about the running step that began first. */
function sentenceOf(
  units: readonly (FoldedPlan["units"] extends Map<string, infer Unit> ? Unit : never)[],
  { calls, began }: ReturnType<typeof recompute>,
  now: number,
): string[] {
  const running = units.filter(({ status, item }) => status === "RUNNING" && item === undefined);
  if (running.length === 0) return [];
  const steps = running.map(({ key, stepId, status, startedAt, attempts }) =>
    stepOf(stepId, { key, status, startedAt, attempts }),
  );
  const { message } = diagnose({ ...factsOf(requestOf({ plan: planOf(steps) })), nowMs: now }).cause;
  const [, shown] = /has been running for ([\d.]+ (?:ms|s|min \d+ s|h \d+ min))/.exec(message) ?? [];
  const starts = running.map(({ key }) => calls.get(key)?.at(-1)?.from ?? began.get(key) ?? Number.NaN);
  const told = durationText(now - Math.min(...starts));
  return shown === told ? [] : [`${message}: shown ${shown}, told ${told}`];
}

/** @param distort - changes the state before it is shown */
async function allDifferences(seed: number, distort?: (plan: FoldedPlan) => void) {
  const found: string[] = [];
  for (const story of await storiesOf(seed)) {
    const { entries } = story;
    if (!distort) found.push(...(await documentDifferences(story)));
    let state = emptyRequest(entries[0]?.requestId ?? "");
    for (const [index, entry] of entries.entries()) {
      state = fold(state, [entry]);
      const folded = state.plans.get(entry.planId);
      if (!folded) continue;
      const plan = distort ? structuredClone(folded) : folded;
      distort?.(plan);
      for (const difference of differences(plan, entries.slice(0, index + 1), entry.at.getTime()))
        found.push(`seed ${seed}, ${entry.requestId} entry ${entry.seq}: ${difference}`);
    }
  }
  return found;
}

/** What the first world finds in which it can be found. */
async function untilFound(differencesOf: (seed: number) => Promise<string[]>): Promise<string[]> {
  for (let seed = 1; seed <= 10; seed++) {
    const found = await differencesOf(seed);
    if (found.length > 0) return found;
  }
  return [];
}

test(`every shown number follows from the journal, at every entry of ${SEEDS} simulated worlds`, async () => {
  const seeds = Array.from({ length: SEEDS }, (_, index) => index + 1);
  for (const seed of [...seeds, FAILED_LIST, FAILED_ITEMS]) expect(await allDifferences(seed)).toEqual([]);
}, 600_000);

test.each<[string, (plan: FoldedPlan) => void]>([
  ["a start a second too early", ({ units }) => units.forEach((unit) => unit.startedAt?.setSeconds(-1))],
  ["an attempt too few", ({ units }) => units.forEach((unit) => unit.attempts.shift())],
  [
    "a call of a lost executor that runs",
    ({ units }) =>
      units.forEach(({ attempts }) => attempts.forEach((one) => Object.assign(one, { endedAt: null }))),
  ],
  ["the time of the plan from another start", (plan) => plan.startedAt?.setSeconds(-1)],
  ["a wait for a person that is left out", (plan) => Object.assign(plan, { waits: [] })],
  [
    "a call that took a millisecond more",
    ({ units }) =>
      units.forEach(({ attempts }) => attempts.forEach((one) => ((one.durationMs ??= 0), one.durationMs++))),
  ],
  [
    "an item that completed and is counted as failed",
    ({ units }) =>
      units.forEach(
        (unit) =>
          unit.item !== undefined && unit.status === "COMPLETED" && Object.assign(unit, { status: "FAILED" }),
      ),
  ],
])("%s is found", async (_, distort) => {
  expect(await untilFound((seed) => allDifferences(seed, distort))).not.toEqual([]);
});

/** A share with an item more than failed or succeeded. */
const withOneMore = (text: string) =>
  text.replace(/(\d+)( of \d+ items)/, (_, count: string, rest: string) => `${Number(count) + 1}${rest}`);

test.each<[string, number, (plan: FoldedPlan) => void]>([
  [
    "the error of a plan",
    FAILED_LIST,
    ({ error }) => error && Object.assign(error, { message: withOneMore(error.message) }),
  ],
  [
    "the error of a list",
    FAILED_LIST,
    ({ units }) =>
      units.forEach(({ error }) => error && Object.assign(error, { message: withOneMore(error.message) })),
  ],
  [
    "the diagnosis",
    FAILED_ITEMS,
    ({ units }) => {
      const failed = [...units.values()].find(
        ({ item, status }) => item !== undefined && status === "FAILED",
      );
      if (failed) units.set("again", { ...failed, key: "again" });
    },
  ],
])("a wrong share of items is found in %s", async (_, seed, distort) => {
  expect(await allDifferences(seed, distort)).toContainEqual(expect.stringContaining("share of items"));
});

test.each<[string, (plan: PlanDocument) => void]>([
  ["an executor more that was lost", (plan) => Object.assign(plan, { claims: plan.claims + 1 })],
  [
    "a row that waited a second longer",
    (plan) => (plan.waitedForPeopleMs = (plan.waitedForPeopleMs ?? 0) + 1_000),
  ],
  [
    "a row with a failed step more",
    ({ counts }) => counts && Object.assign(counts, { FAILED: (counts.FAILED ?? 0) + 1 }),
  ],
  ["a row whose approval expires a second later", ({ dueAt }) => dueAt?.setSeconds(dueAt.getSeconds() + 1)],
])("%s is found", async (_, distort) => {
  const differencesOf = async (seed: number) =>
    (await Promise.all((await storiesOf(seed)).map((story) => documentDifferences(story, distort)))).flat();
  expect(await untilFound(differencesOf)).not.toEqual([]);
});
