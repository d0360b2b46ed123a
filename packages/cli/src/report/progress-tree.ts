import {
  needOf,
  type PlanRun,
  pendingControl,
  pendingText,
  type RequestRun,
  requestLook,
  type StepRun,
  stepTree,
  type TreeRow,
} from "@planwright/client";
import { countText, durationText, ownTimeText } from "@planwright/plan";
import type { Style } from "../terminal/output.ts";
import { between, markOf, planningText } from "./format.ts";
import { stepLine, urgencyOf } from "./step-line.ts";

/** Options of the drawing. */
export interface TreeOptions {
  style: Style;
  /** Now, in milliseconds since 1970. */
  nowMs: number;
  /** Most lines of the tree; finished and waiting steps are left out first. */
  maxLines: number;
  /** The current frame of the spinner; absent in the final tree. */
  spinner?: string | undefined;
}

/** A running request as a headline and a tree of its steps. Pure. */
export function progressTree(request: RequestRun, options: TreeOptions): string[] {
  const steps = request.plan?.steps ?? [];
  const rows = stepTree(steps);
  const shown = fitting(rows, Math.max(1, options.maxLines - 2));
  const hidden = rows.length - shown.length;
  return [
    headline(request, options),
    ...shown.map(({ step, branch }) => {
      const items = steps.filter(({ id, item }) => id === step.id && item !== null);
      return `${branch}${stepLine(step, items, options)}`;
    }),
    ...(hidden > 0 ? [options.style("quiet", `   and ${countText(hidden, "more step")}`)] : []),
  ];
}

function headline(request: RequestRun, { style, nowMs, spinner }: TreeOptions): string {
  const { plan, status } = request;
  const isWaiting = needOf(request) !== null;
  const { symbol, tone } =
    isWaiting && plan?.status === "WAITING" ? markOf("plan", plan) : markOf("request", { status });
  const isBusy = spinner !== undefined && !isWaiting;
  return [
    `${style(isBusy ? "busy" : tone, isBusy ? spinner : symbol)} ${style("strong", request.requestId)}`,
    `${style(tone, phase(request))}${style("quiet", progress(request, nowMs))}`,
  ].join("  ");
}

/** The phase in a few words. */
function phase(request: RequestRun): string {
  const { status, plan } = request;
  if (status === "PLANNING") return planningText(request);
  if (status !== "EXECUTING") return status;
  const pending = pendingControl(plan);
  return pending ? pendingText(pending) : requestLook(request).word;
}

function progress(request: RequestRun, nowMs: number): string {
  const { plan, createdAt, answers, status } = request;
  if (!plan || plan.steps.length === 0) {
    // Until the last answer a person was waited for.
    const since = between(answers.at(-1)?.at ?? createdAt, nowMs);
    return status === "PLANNING" && since !== null ? `  ${durationText(since)}` : "";
  }
  const plain = plan.steps.filter(({ item }) => item === null);
  const done = plain.filter((step) => step.status === "COMPLETED").length;
  return `  ${done} of ${countText(plain.length, "step")}${timeSince(plan, needOf(request) !== null, nowMs)}`;
}

/** How long the plan has run until now, or until its end: of the two clocks that were read only one goes on. */
function timeSince(plan: PlanRun, waitsForPerson: boolean, nowMs: number): string {
  const { durationMs, waitedForPeopleMs, finishedAt } = plan;
  const totalMs = between(plan.startedAt, nowMs);
  if (durationMs === null || totalMs === null) return "";
  if (finishedAt !== null) return `  ${ownTimeText(durationMs, waitedForPeopleMs)}`;
  const waitedMs = waitsForPerson ? totalMs - durationMs : (waitedForPeopleMs ?? 0);
  return `  ${ownTimeText(totalMs - waitedMs, Math.max(0, waitedMs))}`;
}

/** At most `maxRows` rows: the most urgent ones, in the order of the tree. */
function fitting(rows: readonly TreeRow<StepRun>[], maxRows: number): readonly TreeRow<StepRun>[] {
  if (rows.length <= maxRows) return rows;
  const rank = ({ step }: TreeRow<StepRun>) => urgencyOf(step.status);
  const kept = new Set(rows.toSorted((a, b) => rank(a) - rank(b)).slice(0, maxRows));
  return rows.filter((row) => kept.has(row));
}
