import type { PlanRun, StepRun } from "@planwright/client";
import { isCarried, type MaybeCarried } from "@planwright/plan";
import type { PlanningCall, RequestPage } from "../data/request-operations.ts";
import type { Tone } from "../parts/looks.ts";

/** A span of time on a row. */
export interface Bar extends Span {
  kind: "attempt" | "wait" | "backoff" | "planning";
  tone: Tone;
  label: string;
  /** The reason of a wait; null for other bars. */
  reason: string | null;
}

/** One line of the timeline: of the planner, of a model call, or of a step. */
export interface TimelineRow {
  key: string;
  stepId: string | null;
  name: string;
  bars: readonly Bar[];
}

/** The rows of the timeline and their time span. */
export interface TimelineFacts extends Span {
  rows: readonly TimelineRow[];
  /** The spans with activity. */
  busy: readonly Span[];
}

/** The source of the timeline. */
export interface TimelineSource {
  request: Pick<RequestPage, "createdAt" | "planningStartedAt" | "planningFinishedAt" | "error">;
  plan: PlanRun | null;
  calls: readonly PlanningCall[];
  /** The end of the shown time: later events are left out. */
  now: number;
}

/**
 * The timeline of a request, from the sentence to the last call: planning on top, then the steps in the order
 * of their first attempts.
 */
export function timelineOf({ request, plan, calls, now }: TimelineSource): TimelineFacts {
  const planning = planningRow(request, now);
  const shownCalls = calls.flatMap((call) => callRow(call, now));
  const byId = new Map(plan?.steps.filter(({ item }) => item === null).map((step) => [step.id, step]));
  const firstAttempt = (row: TimelineRow) =>
    row.bars.find(({ kind }) => kind === "attempt")?.from ?? Number.MAX_SAFE_INTEGER;
  const steps = (plan?.steps ?? [])
    .map((step) => stepRow(step, { plan, byId, now }))
    .filter(({ bars }) => bars.length > 0)
    .toSorted((a, b) => firstAttempt(a) - firstAttempt(b));
  const rows = [...(planning ? [planning] : []), ...shownCalls, ...steps];
  const bars = rows.flatMap((row) => row.bars);
  const busy = bars.filter(({ kind }) => kind === "attempt" || kind === "planning");
  const from = Math.min(Date.parse(request.createdAt), ...bars.map((bar) => bar.from));
  const to = Math.max(from + 1, ...bars.map((bar) => bar.to));
  return { rows, busy, from, to };
}

function planningRow(
  { planningStartedAt, planningFinishedAt, error }: TimelineSource["request"],
  now: number,
): TimelineRow | null {
  const from = planningStartedAt === null ? now : Date.parse(planningStartedAt);
  if (from >= now) return null;
  const end = planningFinishedAt === null ? now : Date.parse(planningFinishedAt);
  const isOpen = planningFinishedAt === null || end > now;
  const tone = isOpen ? "active" : error ? "bad" : "good";
  const bar: Bar = { from, to: Math.min(end, now), kind: "planning", tone, label: "planning", reason: null };
  return { key: "planning", stepId: null, name: "planning", bars: [bar] };
}

function callRow(
  { id, purpose, model, createdAt, endedAt, error }: PlanningCall,
  now: number,
): TimelineRow[] {
  const from = Date.parse(createdAt);
  if (from >= now) return [];
  const isOpen = endedAt === null || Date.parse(endedAt) > now;
  const to = endedAt === null ? now : Math.min(Date.parse(endedAt), now);
  const tone = isOpen ? "active" : error ? "bad" : "good";
  const label = `${model}${error ? `: ${error.code}` : ""}`;
  const bars: Bar[] = [{ from, to, kind: "planning", tone, label, reason: null }];
  return [{ key: `call ${id}`, stepId: null, name: `${purpose} · ${model}`, bars }];
}

const ATTEMPT_TONE: Readonly<Record<string, Tone>> = {
  completed: "good",
  failed: "bad",
  aborted: "quiet",
  unknown: "attention",
};

interface RowContext {
  plan: PlanRun | null;
  byId: ReadonlyMap<string, StepRun>;
  now: number;
}

function stepRow(step: StepRun, { plan, byId, now }: RowContext): TimelineRow {
  const waits = waitsOf(step, {
    begin: plan?.startedAt ?? null,
    isEnded: plan?.finishedAt !== null,
    byId,
    now,
  });
  const bars: Bar[] = waits.map((wait) => ({
    ...wait,
    kind: "wait",
    tone: wait.reason === "approval" || wait.reason === "in doubt" ? "attention" : "quiet",
    label: `waited: ${wait.reason}`,
  }));
  step.attempts.forEach((attempt, index) => {
    const bar = attemptBar(step, attempt, now);
    bars.push(bar);
    const next = step.attempts[index + 1]?.startedAt ?? step.nextAttemptAt;
    const retryAt = next ? Math.min(Date.parse(next), Math.max(now, bar.to)) : null;
    if (retryAt !== null && retryAt > bar.to)
      bars.push({
        from: bar.to,
        to: retryAt,
        kind: "backoff",
        tone: "quiet",
        label: "backoff",
        reason: null,
      });
  });
  return { key: step.key, stepId: step.id, name: step.key, bars };
}

function attemptBar({ status }: StepRun, attempt: StepRun["attempts"][number], now: number): Bar {
  const from = Date.parse(attempt.startedAt);
  const isRunning = status === "RUNNING" && attempt.endedAt === null && attempt.outcome === null;
  const to =
    attempt.endedAt === null ? (isRunning ? Math.max(from, now) : from) : Date.parse(attempt.endedAt);
  const endTone = ATTEMPT_TONE[attempt.outcome ?? ""] ?? "quiet";
  const tone = isRunning ? "active" : attempt.endedAt === null ? "attention" : endTone;
  const code = attempt.error ? ` (${attempt.error.code})` : "";
  const label = `attempt ${attempt.attempt}: ${attempt.outcome ?? "running"}${code}`;
  return { from, to, kind: "attempt", tone, label, reason: null };
}

/** A span in which a step did not begin or did not continue, and the reason. */
interface Wait extends Span {
  reason: string;
}

/** The context from which the waits of a step follow. */
export interface WaitContext {
  /** When the plan was started; null if it was not. */
  begin: string | null;
  /** True when the plan has ended, so that no step waits. */
  isEnded: boolean;
  /** The steps of the plan by id, without the items of lists. */
  byId: ReadonlyMap<string, Pick<StepRun, "finishedAt">>;
  now: number;
}

/** The fields of a step that are needed. */
export type WaitingStep = Pick<
  StepRun,
  "dependsOn" | "status" | "waitReason" | "approved" | "approvalHash" | "settled"
> &
  MaybeCarried & { attempts: readonly { startedAt: string; endedAt: string | null }[] };

/**
 * Why a step waited, in order: for its dependencies until the last of them ended, then for an approval or its
 * turn, and after its last attempt for a decision on a doubt.
 */
export function waitsOf(step: WaitingStep, context: WaitContext): Wait[] {
  return isCarried(step) ? [] : [...waitsBefore(step, context), ...waitForDecision(step, context)];
}

function waitsBefore(step: WaitingStep, { begin, isEnded, byId, now }: WaitContext): Wait[] {
  const first = step.attempts[0];
  const isWaiting = step.status === "PENDING" || step.status === "WAITING_APPROVAL";
  if (begin === null || (!first && (isEnded || !isWaiting))) return [];
  const from = Date.parse(begin);
  const to = first ? Date.parse(first.startedAt) : now;
  const ends = step.dependsOn.map((id) => byId.get(id)?.finishedAt ?? null);
  const ended = ends.flatMap((at) => (at === null ? [] : Date.parse(at)));
  const isHeld = !first && ends.includes(null);
  const ready = isHeld ? to : Math.min(to, Math.max(from, ...ended));
  const needsApproval = step.approved || step.approvalHash !== null || step.status === "WAITING_APPROVAL";
  const reason = needsApproval ? "approval" : ((first ? null : step.waitReason) ?? "its turn");
  const waits = [
    { from, to: ready, reason: "dependency" },
    { from: ready, to, reason },
  ];
  return waits.filter((wait) => wait.to > wait.from);
}

function waitForDecision(step: WaitingStep, { now }: WaitContext): Wait[] {
  const end = step.attempts.at(-1);
  if (!end || (step.status !== "IN_DOUBT" && step.settled === null)) return [];
  const from = Date.parse(end.endedAt ?? end.startedAt);
  const to = step.settled?.at ? Date.parse(step.settled.at) : now;
  return to > from ? [{ from, to, reason: "in doubt" }] : [];
}

/** A span of time, in milliseconds since the epoch. */
export interface Span {
  from: number;
  to: number;
}

/** An idle span, drawn with a fixed width. */
interface IdleGap extends Span {
  x: number;
}

/** Maps times to positions. */
export interface TimeAxis {
  /** The position of a time, from 0 to the width. Times outside are at the ends. */
  x: (at: number) => number;
  /** The time at a position. */
  timeAt: (x: number) => number;
  gaps: readonly IdleGap[];
  /** The times of the ticks, at round distances from the origin. */
  ticks: readonly number[];
}

/** Width of a folded gap, in pixels. */
export const GAP_WIDTH = 44;

/**
 * An idle span is folded if it has at least this length, in milliseconds, and is at least this part of the
 * axis.
 */
const GAP_MS = 2_000;
const GAP_PART = 0.25;

/** Distance of two ticks that leaves enough space for their labels, in pixels. */
const TICK_WIDTH = 84;

interface Segment extends Span {
  x: number;
  width: number;
  isGap: boolean;
}

/**
 * An axis from the beginning of a span to its end. Long idle spans are folded.
 * @param busy - spans with activity, in any order
 * @param options - origin: the time from which ticks are counted
 */
export function createAxis(
  busy: readonly Span[],
  whole: Span,
  { width, origin }: { width: number; origin: number },
): TimeAxis {
  const segments = placed(segmentsOf(busy, whole), width);
  const find = (isBefore: (segment: Segment) => boolean) => segments.find(isBefore) ?? segments.at(-1);
  return {
    x(at) {
      const segment = find(({ to }) => at <= to);
      if (!segment) return 0;
      const part = (at - segment.from) / Math.max(1, segment.to - segment.from);
      return segment.x + Math.min(1, Math.max(0, part)) * segment.width;
    },
    timeAt(x) {
      const segment = find((one) => x <= one.x + one.width);
      if (!segment) return whole.from;
      const part = (x - segment.x) / Math.max(1, segment.width);
      return segment.from + Math.min(1, Math.max(0, part)) * (segment.to - segment.from);
    },
    gaps: segments.filter(({ isGap }) => isGap),
    ticks: ticksOf(segments, origin),
  };
}

/** The idle spans that are long enough to be folded. */
export function idleGaps(busy: readonly Span[], { from, to }: Span): Span[] {
  const least = Math.max(GAP_MS, (to - from) * GAP_PART);
  const gaps: Span[] = [];
  let end = from;
  for (const span of busy.toSorted((a, b) => a.from - b.from)) {
    if (Math.min(span.from, to) - end >= least) gaps.push({ from: end, to: Math.min(span.from, to) });
    end = Math.max(end, span.to);
  }
  if (to - end >= least) gaps.push({ from: end, to });
  return gaps;
}

function segmentsOf(busy: readonly Span[], whole: Span): (Span & { isGap: boolean })[] {
  const segments: (Span & { isGap: boolean })[] = [];
  let end = whole.from;
  for (const gap of idleGaps(busy, whole)) {
    if (gap.from > end) segments.push({ from: end, to: gap.from, isGap: false });
    segments.push({ ...gap, isGap: true });
    end = gap.to;
  }
  if (whole.to > end || segments.length === 0) segments.push({ from: end, to: whole.to, isGap: false });
  return segments;
}

function placed(segments: readonly (Span & { isGap: boolean })[], width: number): Segment[] {
  const open = segments.filter(({ isGap }) => !isGap);
  const openMs = Math.max(
    1,
    open.reduce((sum, { from, to }) => sum + to - from, 0),
  );
  const openWidth = Math.max(0, width - (segments.length - open.length) * GAP_WIDTH);
  let x = 0;
  return segments.map((segment) => {
    const segmentWidth = segment.isGap ? GAP_WIDTH : ((segment.to - segment.from) / openMs) * openWidth;
    const at = x;
    x += segmentWidth;
    return { ...segment, x: at, width: segmentWidth };
  });
}

/**
 * 1, 2 or 5 times a power of ten milliseconds; from a minute on, of minutes, and from an hour on, of hours.
 */
function roundStep(least: number): number {
  const unit = least < 60_000 ? 1 : least < 3_600_000 ? 60_000 : 3_600_000;
  const power = 10 ** Math.floor(Math.log10(least / unit));
  const factor = [1, 2, 5, 10].find((one) => one * power * unit >= least) ?? 10;
  return factor * power * unit;
}

function ticksOf(segments: readonly Segment[], origin: number): number[] {
  const ticks: number[] = [];
  let last = Number.NEGATIVE_INFINITY;
  for (const { from, to, x, width, isGap } of segments) {
    if (isGap || width < 1) continue;
    const step = roundStep(Math.max(1, ((to - from) * TICK_WIDTH) / width));
    for (let at = origin + Math.ceil((from - origin) / step) * step; at <= to; at += step) {
      const place = x + ((at - from) / Math.max(1, to - from)) * width;
      if (place - last < TICK_WIDTH * 0.9) continue;
      ticks.push(at);
      last = place;
    }
  }
  return ticks;
}
