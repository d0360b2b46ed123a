import type { PlanRun, StepRun } from "@planwright/client";
import type { PlanningCall, RequestPage } from "../../data/request-operations.ts";
import type { Tone } from "../../design/statuses.ts";
import type { Span } from "./axis.ts";

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
  "dependsOn" | "status" | "waitReason" | "approved" | "approvalHash" | "carriedFrom" | "settled"
> & { attempts: readonly { startedAt: string; endedAt: string | null }[] };

/**
 * Why a step waited, in order: for its dependencies until the last of them ended, then for an approval or its
 * turn, and after its last attempt for a decision on a doubt.
 */
export function waitsOf(step: WaitingStep, context: WaitContext): Wait[] {
  return step.carriedFrom === null ? [...waitsBefore(step, context), ...waitForDecision(step, context)] : [];
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
