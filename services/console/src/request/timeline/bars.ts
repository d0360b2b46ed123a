import type { RequestFacts, StepRow } from "../../data/operations.ts";
import type { ShownPlan } from "../../data/shown-plan.ts";
import type { Tone } from "../../design/statuses.ts";

/** A stretch of time on a row. */
export interface Bar {
  from: number;
  to: number;
  kind: "attempt" | "wait" | "backoff" | "planning";
  tone: Tone;
  label: string;
}

/** One line of the timeline: the planner's, or a step's. */
export interface TimelineRow {
  key: string;
  stepId: string | null;
  name: string;
  bars: Bar[];
}

/** All rows on one axis, in milliseconds since the epoch. */
export interface TimelineFacts {
  rows: TimelineRow[];
  from: number;
  to: number;
}

/** The request on one axis, from the sentence to its last call: planning on top, then the steps in the order in which they began. */
export function timelineOf(request: RequestFacts, plan: ShownPlan | null, now: number): TimelineFacts {
  const planning = planningRow(request, now);
  const steps = (plan?.steps ?? [])
    .filter(({ item, attempts }) => item === null || attempts.length > 0)
    .map((step) => stepRow(step, plan, now))
    .toSorted(
      (a, b) => (a.bars[0]?.from ?? Number.MAX_SAFE_INTEGER) - (b.bars[0]?.from ?? Number.MAX_SAFE_INTEGER),
    );
  const rows = [...(planning ? [planning] : []), ...steps];
  const bars = rows.flatMap((row) => row.bars);
  const from = Math.min(Date.parse(request.createdAt), ...bars.map((bar) => bar.from));
  const to = Math.max(from + 1, ...bars.map((bar) => bar.to));
  return { rows, from, to };
}

function planningRow(
  { planningStartedAt, planningFinishedAt, error }: RequestFacts,
  now: number,
): TimelineRow | null {
  if (planningStartedAt === null) return null;
  const from = Date.parse(planningStartedAt);
  const to = planningFinishedAt === null ? now : Date.parse(planningFinishedAt);
  const tone = error ? "bad" : planningFinishedAt === null ? "active" : "good";
  return {
    key: "planning",
    stepId: null,
    name: "planning",
    bars: [{ from, to, kind: "planning", tone, label: "planning" }],
  };
}

const ATTEMPT_TONE: Readonly<Record<string, Tone>> = {
  completed: "good",
  failed: "bad",
  aborted: "quiet",
  unknown: "attention",
};

function stepRow(step: StepRow, plan: ShownPlan | null, now: number): TimelineRow {
  const { key, id, attempts, status } = step;
  const bars: Bar[] = [];
  const begin = plan?.startedAt ? Date.parse(plan.startedAt) : null;
  const first = attempts[0] ? Date.parse(attempts[0].startedAt) : null;
  if (begin !== null && first !== null && first > begin)
    bars.push({ from: begin, to: first, kind: "wait", tone: "quiet", label: "waited" });
  attempts.forEach((attempt, index) => {
    const from = Date.parse(attempt.startedAt);
    const isOpen = attempt.endedAt === null;
    const to = attempt.endedAt === null ? (status === "RUNNING" ? now : from) : Date.parse(attempt.endedAt);
    const tone = isOpen
      ? status === "RUNNING"
        ? "active"
        : "attention"
      : (ATTEMPT_TONE[attempt.outcome ?? ""] ?? "quiet");
    bars.push({
      from,
      to,
      kind: "attempt",
      tone,
      label: `attempt ${attempt.attempt}: ${attempt.outcome ?? "under way"}`,
    });
    const next = attempts[index + 1];
    const retryAt = next
      ? Date.parse(next.startedAt)
      : step.nextAttemptAt
        ? Date.parse(step.nextAttemptAt)
        : null;
    if (retryAt !== null && retryAt > to)
      bars.push({
        from: to,
        to: Math.min(retryAt, Math.max(now, to)),
        kind: "backoff",
        tone: "quiet",
        label: "backoff",
      });
  });
  return { key, stepId: id, name: key, bars };
}
