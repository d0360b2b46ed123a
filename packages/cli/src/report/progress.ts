import {
  awaitsAnswer,
  type Need,
  needOf,
  type PendingControl,
  type PlanRun,
  pendingControl,
  pendingText,
  type RequestRun,
  requestLook,
  type StepRun,
  stepTree,
  type TreeRow,
} from "@planwright/client";
import {
  countText,
  durationText,
  numberText,
  ownTimeText,
  STEP_LIFECYCLE,
  statusesWhere,
  waitWords,
} from "@planwright/plan";
import type { Style } from "../terminal.ts";
import { between, markOf, planningText, problem, settledNote, stepName, unexpectedNote } from "./format.ts";
import { stepLine, urgencyOf } from "./step-line.ts";

/** A change between two readings of a request; `--json` prints these, one a line. */
type ProgressEvent =
  | { event: "accepted"; requestId: string; planId: string; query: string | null }
  | ({ event: "planning" } & Pick<RequestRun, "waitReason" | "modelWait">)
  | {
      event: "planned";
      planId: string;
      version: number;
      origin: PlanRun["origin"];
      steps: { id: string; tool: string; dependsOn: string[] }[];
    }
  | { event: "plan"; planId: string; status: string; waitReason: string | null }
  | { event: "control"; planId: string; control: PendingControl["control"]; calls: number | null }
  | {
      event: "step";
      key: string;
      tool: string;
      status: string;
      attempt: number;
      waitReason: string | null;
      durationMs: number | null;
      waitedForPeopleMs: number | null;
      error: { code: string; message: string } | null;
      settled: StepRun["settled"];
      warnings: string[];
    }
  | { event: "answering" }
  | { event: "needed"; need: Need; questions: string[]; steps: string[] };

/** What planning waits for. The tries of a model that is away are one wait. */
const waitOf = ({ waitReason, modelWait }: RequestRun): string | null =>
  waitReason === "no worker" ? waitReason : (modelWait?.since ?? waitReason);

/** The changes between two readings. Pure. @param before - the earlier reading; null at the first one */
export function progressEvents(before: RequestRun | null, now: RequestRun): ProgressEvent[] {
  const { requestId, planId, query, plan } = now;
  const events: ProgressEvent[] = [];
  if (!before) events.push({ event: "accepted", requestId, planId, query });
  const isPlanning = now.status === "PLANNING";
  if (isPlanning && (before?.status !== "PLANNING" || waitOf(before) !== waitOf(now))) {
    const { waitReason, modelWait } = now;
    events.push({ event: "planning", waitReason, modelWait });
  }
  if (plan) {
    const earlier = before?.plan?.planId === plan.planId ? before.plan : null;
    if (!earlier && plan.steps.length > 0) events.push(planned(plan));
    const isOther = earlier?.status !== plan.status || earlier.waitReason !== plan.waitReason;
    const steps = changedSteps(earlier, plan);
    // The end of a plan comes after the steps that led to it.
    const change: ProgressEvent = { event: "plan", planId, status: plan.status, waitReason: plan.waitReason };
    if (isOther && plan.finishedAt === null) events.push(change);
    events.push(...steps);
    if (isOther && plan.finishedAt !== null) events.push(change);
  }
  const pending = pendingControl(plan);
  if (pending && pendingControl(before?.plan ?? null)?.control !== pending.control) {
    events.push({ event: "control", planId, control: pending.control, calls: pending.calls });
  }
  if (awaitsAnswer(now) && (!before || !awaitsAnswer(before))) events.push({ event: "answering" });
  const need = needOf(now);
  if (need !== null && (!before || needOf(before) !== need)) events.push(needed(now, need));
  return events;
}

function planned({ planId, version, origin, steps }: PlanRun): ProgressEvent {
  const plain = steps.filter(({ item }) => item === null);
  return {
    event: "planned",
    planId,
    version,
    origin,
    steps: plain.map(({ id, tool, dependsOn }) => ({ id, tool, dependsOn })),
  };
}

/** Steps whose status changed; at the first reading those that have begun. */
function changedSteps(before: PlanRun | null, { steps }: PlanRun): ProgressEvent[] {
  const earlier = new Map(before?.steps.map((step) => [step.key, step]));
  return steps
    .filter((step) => {
      const old = earlier.get(step.key);
      if (!old) return step.status !== "PENDING";
      return old.status !== step.status || old.attempts.length !== step.attempts.length;
    })
    .toSorted((a, b) => instantOf(a).localeCompare(instantOf(b)))
    .map(({ key, tool, status, attempts, waitReason, error, ...step }) => ({
      event: "step",
      key,
      tool,
      status,
      attempt: attempts.length,
      waitReason,
      durationMs: step.durationMs,
      waitedForPeopleMs: step.waitedForPeopleMs,
      error: error ? { code: error.code, message: error.message } : null,
      settled: step.settled,
      warnings: step.warnings,
    }));
}

const instantOf = (step: StepRun) => step.finishedAt ?? step.attempts.at(-1)?.startedAt ?? "9";

function needed({ questions, plan }: RequestRun, need: Need): ProgressEvent {
  const waiting: ReadonlySet<string> = new Set(statusesWhere(STEP_LIFECYCLE, ({ needs }) => needs === need));
  const isWaiting = ({ status, waitReason }: StepRun): boolean =>
    need === "sign-in" ? waitReason === need : waiting.has(status);
  const steps = plan?.steps.filter(isWaiting).map(({ key }) => key) ?? [];
  return { event: "needed", need, questions, steps };
}

/** The changes between two readings as plain lines for logs and pipes. Pure. */
export function progressLines(before: RequestRun | null, now: RequestRun): string[] {
  return progressEvents(before, now).flatMap(lineOf);
}

const NEEDED: Readonly<Record<Need, string>> = {
  input: "the planner has questions",
  start: "the plan is stored and not started",
  approval: "a call waits for an approval",
  doubt: "it is not known whether a call happened",
  "sign-in": "a tool server needs a sign-in",
  resume: "the plan is paused",
};

function lineOf(event: ProgressEvent): string[] {
  switch (event.event) {
    case "accepted":
      return [`${event.requestId} accepted`];
    case "planning":
      return [planningText(event)];
    case "planned": {
      const by = event.origin.model ?? event.origin.kind;
      const version = event.version > 1 ? `, version ${event.version}` : "";
      return [`${event.planId} planned: ${countText(event.steps.length, "step")}, ${by}${version}`];
    }
    case "plan":
      return [`plan ${event.status}${waiting(event)}`];
    case "control":
      return [`plan ${pendingText(event)}`];
    case "step":
      return [stepText(event)];
    case "answering":
      return ["a model is describing the results in words"];
    case "needed":
      return [`waits for a person: ${NEEDED[event.need]}`];
  }
}

function waiting({ status, waitReason }: { status: string; waitReason: string | null }): string {
  return waitReason === null ? "" : ` (${waitWords("plan", { status, waitReason })})`;
}

function stepText({
  status,
  attempt,
  durationMs,
  waitedForPeopleMs,
  error,
  settled,
  warnings,
  ...step
}: Extract<ProgressEvent, { event: "step" }>) {
  const took =
    durationMs === null || status === "RUNNING" ? "" : ` ${ownTimeText(durationMs, waitedForPeopleMs)}`;
  const repeated = attempt > 1 ? ` attempt ${attempt}` : "";
  const notes = status === "COMPLETED" ? [...settledNote({ settled }), ...unexpectedNote(warnings, 200)] : [];
  const why =
    error && status !== "COMPLETED" ? `: ${problem(error)}` : notes.map((text) => `: ${text}`).join("");
  return `  ${stepName(step)} ${status}${repeated}${took}${why}`;
}

/** Options of the drawing. */
interface TreeOptions {
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
  return `  ${numberText(done)} of ${countText(plain.length, "step")}${timeSince(plan, needOf(request) !== null, nowMs)}`;
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
