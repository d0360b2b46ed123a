import { countText, durationText } from "@planwright/plan";
import type { PlanRecord, RequestRecord, StepRecord } from "../api/request-record.ts";
import { oneLine } from "../terminal/visible-text.ts";
import { between, problem } from "./format.ts";
import { settlementText } from "./settlement-text.ts";

/** Most characters of an error's message. */
const MAX_MESSAGE = 100;

/** One event of the timeline; `at` is null if it did not happen. */
interface Moment {
  at: string | null;
  what: string;
}

/**
 * What happened to a request, oldest first, one line each, with the time since the request was accepted. It
 * is made from the request, not from the events of its journal.
 * @param maxLines - most lines; the latest are kept
 */
export function timeline(request: RequestRecord, maxLines: number): string[] {
  // At the same instant the end of a plan comes after the steps that led to it.
  const moments = [
    ...ofRequest(request),
    ...ofPlans(request),
    ...(request.plan ? ofSteps(request.plan) : []),
    ...(request.plan ? [{ at: request.plan.finishedAt, what: `plan ${request.plan.status}` }] : []),
  ]
    .filter((moment): moment is { at: string; what: string } => moment.at !== null)
    .toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
  const lines = moments.map(({ at, what }) => `${offset(request.createdAt, at)}  ${what}`);
  if (lines.length <= maxLines) return lines;
  return [`(${countText(lines.length - maxLines, "earlier moment")}: see --json)`, ...lines.slice(-maxLines)];
}

function offset(from: string, to: string): string {
  const ms = between(from, to) ?? 0;
  const text = ms < 60_000 ? `+${(Math.max(0, ms) / 1_000).toFixed(3)} s` : `+${durationText(ms)}`;
  return text.padStart(12);
}

function ofRequest(request: RequestRecord): Moment[] {
  return [
    { at: request.createdAt, what: request.source === "plan" ? "plan submitted" : "sentence accepted" },
    { at: request.source === "plan" ? null : request.planningStartedAt, what: "planning began" },
    ...request.modelCalls.flatMap(({ model, purpose, createdAt, endedAt, latencyMs, error }) => [
      { at: endedAt === createdAt ? null : createdAt, what: `model ${model} asked (${purpose})` },
      {
        at: endedAt,
        what: `model ${model} ${error ? "failed" : "answered"} (${purpose}, ${durationText(latencyMs)})${
          error ? `: ${problem(error, MAX_MESSAGE)}` : ""
        }`,
      },
    ]),
    ...request.answers.map(({ at, question, answer }) => ({
      at,
      what: `answered: ${oneLine(question, 80)} ${oneLine(answer, 80)}`,
    })),
    {
      at: request.source === "plan" ? null : request.planningFinishedAt,
      what: request.error ? `planning ended: ${problem(request.error, MAX_MESSAGE)}` : "planning ended",
    },
  ];
}

/** Earlier versions in short, the current one in full. */
function ofPlans({ plans, plan }: RequestRecord): Moment[] {
  const earlier = plans
    .filter(({ planId }) => planId !== plan?.planId)
    .flatMap(({ version, createdAt, finishedAt, status, error }) => [
      { at: version === 1 ? null : createdAt, what: `version ${version} of the plan made` },
      {
        at: finishedAt,
        what: `version ${version} ended ${status}${error ? `: ${problem(error, MAX_MESSAGE)}` : ""}`,
      },
    ]);
  if (!plan) return earlier;
  return [
    ...earlier,
    { at: plan.version === 1 ? null : plan.createdAt, what: `version ${plan.version} of the plan made` },
    { at: plan.queuedAt, what: "queued for an executor" },
    { at: plan.startedAt, what: "first taken by an executor" },
    { at: plan.pauseRequestedAt, what: "pause requested" },
    { at: plan.cancelRequestedAt, what: "cancel requested" },
    ...plan.approvals.map(({ at, approved, stepId, by, reason }) => ({
      at,
      what: `${oneLine(stepId, 80)} ${approved ? "approved" : "refused"} by ${by}${reason === null ? "" : `: ${oneLine(reason, 120)}`}`,
    })),
    ...plan.resolutions.map(({ at, stepKey, resolution, by }) => ({
      at,
      what: `${oneLine(stepKey, 80)}: ${settlementText({ by, resolution })}`,
    })),
    ...plan.steps.flatMap((step) => settledAfterEnd(plan, step)),
  ];
}

/** A doubt that was settled after the plan had ended is recorded at the step only. */
function settledAfterEnd({ resolutions }: PlanRecord, { key, settled }: StepRecord): Moment[] {
  if (!settled || resolutions.some(({ stepKey }) => stepKey === key)) return [];
  return [{ at: settled.at, what: `${oneLine(key, 80)}: ${settlementText(settled)}` }];
}

function ofSteps({ steps, planId }: PlanRecord): Moment[] {
  return steps.flatMap((step) => {
    if (step.carriedFrom !== null && step.carriedFrom !== planId) return [];
    const attempts = step.attempts.flatMap(
      ({ attempt, startedAt, endedAt, outcome, error, executor, durationMs, unsent }) => {
        const name = `${oneLine(step.key, 80)}${attempt > 1 ? ` attempt ${attempt}` : ""}`;
        const took = durationMs === null ? "" : ` after ${durationText(durationMs)}`;
        const why = error ? `: ${problem(error, MAX_MESSAGE)}` : "";
        // Several executors may have tried; the latest is known.
        if (unsent)
          return [
            { at: startedAt, what: `${name} tried, nothing was sent` },
            { at: endedAt, what: `${name} tried ${countText(unsent.tries, "time")}, nothing was sent${why}` },
          ];
        const how = `${outcome ?? "ended"}${took}${why}`;
        return [
          { at: startedAt, what: `${name} called by ${oneLine(executor, 60)}` },
          { at: endedAt, what: `${name} ${how}` },
        ];
      },
    );
    const hasNoAttempt = step.attempts.length === 0 && step.item === null;
    return [
      ...attempts,
      { at: hasNoAttempt ? step.finishedAt : null, what: `${oneLine(step.key, 80)} ${step.status}` },
    ];
  });
}
