/**
 * Every number that is shown about a run can be recomputed from its journal: a small second computation from the bare
 * events compares attempts, starts, ends and durations at every entry of simulated journals, and the sentence of the
 * diagnosis about the oldest running call.
 */
import {
  emptyRequest,
  type FoldedPlan,
  fold,
  type JournalEntry,
  timeUse,
  unitTime,
} from "@planwright/engine";
import { durationText, isTerminalStepStatus } from "@planwright/plan";
import { expect, test } from "vitest";
import { diagnose } from "../../../../services/api/src/diagnosis/diagnose.ts";
import { factsOf, planOf, requestOf, stepOf } from "../../../../services/api/test/diagnosis/facts.ts";
import { simulateSeed } from "./simulate-seed.ts";

/** `SHOWN_NUMBERS_SEEDS=100` for more. */
const SEEDS = Number(process.env["SHOWN_NUMBERS_SEEDS"] ?? 5);

/** The entries of each request of a simulated world. */
async function journalsOf(seed: number): Promise<JournalEntry[][]> {
  const journals = new Map<string, JournalEntry[]>();
  await simulateSeed(seed, {
    onEntry({ _id, ...document }) {
      const entry = document as unknown as JournalEntry;
      journals.set(entry.requestId, [...(journals.get(entry.requestId) ?? []), entry]);
    },
  });
  return [...journals.values()];
}

/** A call as its bare events tell it. */
interface BareCall {
  from: number;
  until: number | null;
  isUnsent: boolean;
}

/** What the events of one plan say about its units, without any state of the fold. */
function recompute(entries: readonly JournalEntry[], planId: string, now: number) {
  const calls = new Map<string, BareCall[]>();
  const began = new Map<string, number>();
  const ended = new Map<string, number>();
  const ids = new Map<string, BareCall>();
  let planStart: number | null = null;
  let planEnd: number | null = null;
  for (const { planId: of, at, events } of entries) {
    if (of !== planId) continue;
    for (const event of events) {
      if (event.type === "lease.taken") {
        planStart ??= at.getTime();
        for (const call of ids.values()) call.until ??= at.getTime();
      }
      if (event.type === "plan.ended") planEnd = at.getTime();
      if (event.type === "attempt.started")
        for (const key of event.units) {
          // The items of a batch that have ended are not called again.
          if (ended.has(key) && event.units.some((one) => !ended.has(one))) continue;
          const call = { from: event.at.getTime(), until: null, isUnsent: false };
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
        }
      if (event.type === "step.changed" && !event.carriedFrom) {
        const isActive = event.status === "RUNNING" || event.status === "RETRYING";
        if (isActive && !began.has(event.key)) began.set(event.key, at.getTime());
        if (isTerminalStepStatus(event.status)) ended.set(event.key, at.getTime());
      }
    }
  }
  const until = planEnd ?? now;
  return { calls, began, ended, totalMs: planStart === null ? 0 : Math.max(0, until - planStart) };
}

/** Tries in a row that could not reach the server are one attempt. */
const attemptsOf = (calls: readonly BareCall[]) =>
  calls.filter(({ isUnsent }, index) => !(isUnsent && calls[index - 1]?.isUnsent)).length;

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
    const took = unitTime(unit, plan.waits)?.ownMs ?? null;
    const most = (finishedAt?.getTime() ?? 0) - (startedAt?.getTime() ?? 0);
    if (took !== null && (took < 0 || took > Math.max(0, most)))
      found.push(`${key} took ${took} of ${most} ms`);
  }
  const use = timeUse(plan, new Date(now));
  compare("time of the plan", use.totalMs, bare.totalMs);
  const parts = Object.values(use.waitedMs).reduce((sum, ms) => sum + ms, use.callsMs + use.otherMs);
  compare("sum of its parts", parts, use.totalMs);
  return [...found, ...sentenceOf(own, bare, now)];
}

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
  for (const entries of await journalsOf(seed)) {
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

test(`every shown number follows from the journal, at every entry of ${SEEDS} simulated worlds`, async () => {
  for (let seed = 1; seed <= SEEDS; seed++) expect(await allDifferences(seed)).toEqual([]);
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
])("%s is found", async (_, distort) => {
  expect(await allDifferences(1, distort)).not.toEqual([]);
});
