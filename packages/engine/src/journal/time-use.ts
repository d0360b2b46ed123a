/**
 * How the time of a plan, or of a step, was used: the one place that computes durations from a journal.
 *
 * 1. Everything follows from the folded journal and the time of the question, so it is the same after a crash.
 * 2. Every moment counts once: `callsMs`, all of `waitedMs` and `otherMs` together are `totalMs`.
 * 3. A plan waits for a person only while nothing but a person could continue it: no executor holds it, and no
 *    call, retry or limit would let it continue. That time is not the plan's own.
 */
import { countText, durationText, groupBy, isCarried, isForPerson, type WaitReason } from "@planwright/plan";
import type { FoldedPlan, FoldedUnit, FoldedWait } from "./folded.ts";

/** What was waited for: a wait reason, or a tool server that could not be reached. */
export type WaitedFor = WaitReason | "unreachable";

/** How the time of a plan or of a step was used, in milliseconds. */
export interface TimeUse {
  /** From the beginning to the end, or until now. 0 for what has not begun. */
  totalMs: number;
  /** `totalMs` without what was waited for people (approval, doubt, sign-in, pause): what a plan's deadline counts. */
  ownMs: number;
  /** At least one call was running. */
  callsMs: number;
  /** Waited, by reason. A reason without time is absent. */
  waitedMs: { [reason in WaitedFor]?: number };
  /** The rest: the system's own work between calls. For a step also its wait for a slot. */
  otherMs: number;
}

/** The first that applies at a moment counts; what is not named comes after `backoff`. */
const PRECEDENCE: readonly (WaitedFor | "calls")[] = [
  "approval",
  "in doubt",
  "sign-in",
  "paused",
  "calls",
  "unreachable",
  "backoff",
  "limit",
  "memory",
  "no worker",
  "dependency",
];

interface Span {
  use: WaitedFor | "calls";
  from: number;
  until: number;
}

/**
 * How the time was used until `at`, or until the end if that was earlier.
 * @param stepId - only this step, from its first call or question to its end. Default: the whole plan, from
 *   its first claim
 */
export function timeUse(plan: FoldedPlan, at: Date, stepId?: string): TimeUse {
  const units = [...plan.units.values()].filter(
    (unit) => !isCarried(unit) && (stepId === undefined || unit.stepId === stepId),
  );
  const until = Math.min(at.getTime(), endOf(plan, stepId) ?? Number.POSITIVE_INFINITY);
  const spans = [
    ...plan.waits.map((wait) => spanOf(wait, until)),
    ...units.flatMap((unit) => callSpans(unit, until)),
    // Other steps may run meanwhile: only the waits of the plan stop its clock.
    ...(stepId === undefined
      ? []
      : units.flatMap(({ waits = [] }) => waits.map((wait) => spanOf(wait, until)))),
  ];
  const from = stepId === undefined ? plan.startedAt?.getTime() : beginningOf(units);
  return from === undefined ? sumUp([], 0, 0) : sumUp(spans, from, Math.max(from, until));
}

/**
 * How long a step or an item that has ended took, in milliseconds. Null before its end, and for a unit without a call.
 * `ownMs`: from its first call, or its beginning as a list, to its end, without what it or its plan waited for people.
 * `waitedForPeopleMs`: those waits, also the one for its approval, which comes before its first call.
 * @param planWaits - those of its plan
 */
export function unitTime(
  { startedAt, finishedAt, waits = [] }: Pick<FoldedUnit, "startedAt" | "finishedAt" | "waits">,
  planWaits: readonly FoldedWait[],
): { ownMs: number; waitedForPeopleMs: number } | null {
  if (!startedAt || !finishedAt) return null;
  const until = finishedAt.getTime();
  const spans = [...planWaits, ...waits].map((wait) => spanOf(wait, until));
  const useFrom = (from: number) => sumUp(spans, from, Math.max(from, until));
  const whole = useFrom(Math.min(startedAt.getTime(), waits[0]?.from.getTime() ?? startedAt.getTime()));
  return { ownMs: useFrom(startedAt.getTime()).ownMs, waitedForPeopleMs: whole.totalMs - whole.ownMs };
}

/** How long a plan waited only for people until `at`, in milliseconds: its deadline moves by as much. */
export function waitedForPeopleMs({ waits }: Pick<FoldedPlan, "waits">, at: Date): number {
  return waits
    .filter(({ reason }) => isForPerson(reason))
    .reduce((sum, { from, until }) => sum + Math.max(0, (until ?? at).getTime() - from.getTime()), 0);
}

/**
 * When a plan that an executor works on becomes EXPIRED. The time in which only a person could continue it does
 * not count, however long that was: only an approval has a limit, which ends its step.
 * @param timeoutMs - the plan's own time, from `startedAt`
 */
export function deadlineOf(
  { waits }: Pick<FoldedPlan, "waits">,
  { startedAt, timeoutMs }: { startedAt: Date; timeoutMs: number },
): Date {
  const from = waits.at(-1)?.from ?? startedAt;
  return new Date(startedAt.getTime() + timeoutMs + waitedForPeopleMs({ waits }, from));
}

function endOf(plan: FoldedPlan, stepId: string | undefined): number | undefined {
  const stepEnd = stepId === undefined ? undefined : plan.units.get(stepId)?.finishedAt;
  return (stepEnd ?? plan.finishedAt)?.getTime();
}

/** When the first of these units was called or asked for approval. */
function beginningOf(units: readonly FoldedUnit[]): number | undefined {
  let first: number | undefined;
  for (const { startedAt, waits = [] } of units)
    for (const time of [startedAt, waits[0]?.from])
      if (time && (first === undefined || time.getTime() < first)) first = time.getTime();
  return first;
}

function spanOf({ reason, from, until }: FoldedWait, end: number): Span {
  return { use: reason, from: from.getTime(), until: until?.getTime() ?? end };
}

/** The calls of a unit, and what it waited for between them. */
function callSpans({ attempts, status, finishedAt }: FoldedUnit, end: number): Span[] {
  const last = finishedAt?.getTime() ?? end;
  return attempts.flatMap(({ startedAt, endedAt, unsent }, position): Span[] => {
    const from = startedAt.getTime();
    const next = attempts[position + 1]?.startedAt.getTime();
    const until = endedAt?.getTime() ?? last;
    const call: Span = { use: unsent ? "unreachable" : "calls", from, until };
    const isFollowed = next !== undefined || status === "RETRYING" || unsent;
    if (!isFollowed || endedAt === null) return [call];
    return [call, { use: unsent ? "unreachable" : "backoff", from: until, until: next ?? last }];
  });
}

function sumUp(spans: readonly Span[], from: number, until: number): TimeUse {
  const edges = spans.flatMap((span) => {
    const begin = Math.max(span.from, from);
    const end = Math.min(span.until, until);
    return begin < end
      ? [
          { at: begin, use: span.use, by: 1 },
          { at: end, use: span.use, by: -1 },
        ]
      : [];
  });
  edges.sort((a, b) => a.at - b.at);
  const open = new Map<Span["use"], number>();
  const spent = new Map<Span["use"], number>();
  let before = from;
  for (const { at, use, by } of edges) {
    const now = PRECEDENCE.find((one) => (open.get(one) ?? 0) > 0);
    if (now && at > before) spent.set(now, (spent.get(now) ?? 0) + at - before);
    open.set(use, (open.get(use) ?? 0) + by);
    before = at;
  }
  const totalMs = until - from;
  const callsMs = spent.get("calls") ?? 0;
  const waitedMs: TimeUse["waitedMs"] = {};
  for (const [use, ms] of spent) if (use !== "calls") waitedMs[use] = ms;
  const waits = [...spent].filter(([use]) => use !== "calls");
  const sum = (of: typeof waits) => of.reduce((total, [, ms]) => total + ms, 0);
  const people = sum(waits.filter(([use]) => isForPerson(use)));
  return { totalMs, ownMs: totalMs - people, callsMs, waitedMs, otherMs: totalMs - callsMs - sum(waits) };
}

/** What a plan spent its time on, in words; the first is what took longest. */
const USE_TEXTS: Readonly<Record<WaitedFor | "calls" | "other", string>> = {
  calls: "calls",
  unreachable: "waiting for a server that cannot be reached",
  backoff: "waiting between attempts",
  limit: "waiting under the limits of tools",
  memory: "waiting for memory",
  "no worker": "waiting for an executor",
  dependency: "waiting for other steps",
  other: "the work between calls",
  approval: "an approval",
  "in doubt": "the decision about a doubt",
  "sign-in": "a sign-in",
  paused: "a pause",
};

/**
 * What used up the time of a plan, longest first, and the step in which it was spent: "own time 1 h 0 min: 52 min
 * 3 s waiting for a server that cannot be reached (step pay), 7 min 57 s calls (step read); not counted: 10 h 0
 * min an approval (step pay)". Each number is one of {@link timeUse}.
 */
export function timeUseText(plan: FoldedPlan, at: Date): string {
  const use = timeUse(plan, at);
  const spent: [WaitedFor | "calls" | "other", number][] = [
    ["calls", use.callsMs],
    ["other", use.otherMs],
    ...PRECEDENCE.flatMap((one): [WaitedFor, number][] =>
      one === "calls" ? [] : [[one, use.waitedMs[one] ?? 0]],
    ),
  ];
  const shown = spent.filter(([, ms]) => ms > 0).toSorted(([, a], [, b]) => b - a);
  const steps = groupBy(plan.units.values(), ({ stepId }) => stepId);
  const usedBy = new Map(
    [...steps].map(([stepId, units]) => {
      const step = { ...plan, units: new Map(units.map((unit) => [unit.key, unit])) };
      return [stepId, timeUse(step, at, stepId)];
    }),
  );
  const textOf = ([one, ms]: (typeof shown)[number]) =>
    `${durationText(ms)} ${USE_TEXTS[one]}${stepText(usedBy, one)}`;
  const own = shown
    .filter(([one]) => !isForPerson(one))
    .slice(0, 3)
    .map(textOf);
  const people = shown.filter(([one]) => isForPerson(one)).map(textOf);
  const text = `own time ${durationText(use.ownMs)}${own.length > 0 ? `: ${own.join(", ")}` : ""}`;
  return people.length > 0 ? `${text}; not counted: ${people.join(", ")}` : text;
}

/** The step in which most of this time was spent. */
function stepText(usedBy: ReadonlyMap<string, TimeUse>, use: WaitedFor | "calls" | "other"): string {
  if (use === "other" || use === "no worker") return "";
  let most = { stepId: "", ms: 0 };
  let count = 0;
  for (const [stepId, { callsMs, waitedMs }] of usedBy) {
    const ms = use === "calls" ? callsMs : (waitedMs[use] ?? 0);
    if (ms > 0) count += 1;
    if (ms > most.ms) most = { stepId, ms };
  }
  if (count === 0) return "";
  return count === 1 ? ` (step ${most.stepId})` : ` (${countText(count, "step")}, most in ${most.stepId})`;
}
