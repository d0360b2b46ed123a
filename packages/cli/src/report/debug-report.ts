import {
  effectClassOfStep,
  type StepRun,
  type StepValues,
  stepTree,
  unsentText,
  unsentTries,
} from "@planwright/client";
import { countText, durationText, effectWords, isCarried, ownTimeText } from "@planwright/plan";
import type { PlanRecord, RequestRecord, ToolRecord } from "../operations.ts";
import { oneLine, type Style } from "../terminal.ts";
import { answerLines, diagnosisLines, diagnosticLines, printedDiagnosis } from "./diagnosis.ts";
import {
  between,
  type CommandLine,
  inlineJson,
  largeOutput,
  markOf,
  problem,
  settledNote,
  stepName,
} from "./format.ts";
import { isWorthSeeing, stepLine, urgencyOf } from "./step-line.ts";

/** Most lines of one part; everything is in --json. */
const MAX_LINES = 200;
/** Most steps that are shown in full. */
const MAX_STEPS = 10;

/**
 * Everything about a request, for an operator who looks for a fault. The first ten lines contain the cause
 * and what to do. Pure.
 */
export function debugReport(facts: DebugFacts, style: Style): string[] {
  const { request } = facts;
  return [
    ...headLines(request, style),
    ...diagnosisLines(printedDiagnosis(request.diagnosis, facts.command), style),
    ...troubleLines(facts, style),
    ...part("Steps", treeLines(facts, style), style),
    ...answerLines(request, style),
    ...part("Diagnostics of the plan", diagnosticLines(request.diagnostics, style), style),
    ...part("Model calls", modelCallLines(request), style),
    ...part("Answer that is no plan", rawLines(request), style),
    ...part("Timeline", timeline(request, MAX_LINES), style),
  ];
}

/** The request and its status, in two lines. */
function headLines(request: RequestRecord, style: Style): string[] {
  const { plan } = request;
  const { symbol, tone } = markOf("request", request);
  const took = plan ? tookText(plan) : "";
  const version = request.version > 1 ? `, version ${request.version}` : "";
  const inner = plan && plan.status !== request.status ? ` (plan ${plan.status})` : "";
  const tags = request.tags.length > 0 ? `  [${request.tags.map((tag) => oneLine(tag, 64)).join(" ")}]` : "";
  return [
    `${style(tone, symbol)} ${style("strong", request.requestId)}  ${style(tone, request.status)}${inner}${took}${version}`,
    `  ${oneLine(request.title, 160)}${tags}`,
  ];
}

/** " after 2.3 s, and 15 min 0 s waiting for people". */
function tookText({ durationMs, waitedForPeopleMs, finishedAt }: PlanRecord): string {
  if (durationMs === null) return "";
  return ` ${finishedAt === null ? "for" : "after"} ${ownTimeText(durationMs, waitedForPeopleMs)}`;
}

function part(title: string, lines: readonly string[], style: Style): string[] {
  return lines.length === 0 ? [] : ["", style("strong", title), ...lines.map((line) => `  ${line}`)];
}

/** The steps that an operator wants to see in full, failed ones first. */
function troubleLines(facts: DebugFacts, style: Style): string[] {
  const { plan } = facts.request;
  if (!plan) return [];
  const troubled = plan.steps
    .filter(({ status }) => isWorthSeeing(status))
    .toSorted((a, b) => urgencyOf(a.status) - urgencyOf(b.status))
    .filter((step) => step.error?.code !== "ITEMS_FAILED" || step.item !== null);
  const more = troubled.length - MAX_STEPS;
  return [
    ...troubled.slice(0, MAX_STEPS).flatMap((step) => part(titleOf(step), stepDetails(facts, step), style)),
    ...(more > 0 ? ["", `  (${countText(more, "more step")} like these: see --json)`] : []),
  ];
}

const titleOf = (step: StepRun) => `Step ${stepName(step)}  ${step.status}`;

function stepDetails(facts: DebugFacts, step: StepRun & StepValues): string[] {
  const server = serverOf(facts, step.tool);
  const sent = step.resolvedArguments;
  const isSame = JSON.stringify(sent) === JSON.stringify(step.arguments);
  const repeats = effectClassOfStep(step);
  return [
    `tool       ${oneLine(step.tool, 80)}${server === undefined ? "" : ` of server ${server}`}${
      repeats ? `, class ${repeats.letter}` : ""
    }`,
    ...(step.effect === null ? [] : [`effect     ${effectWords(step.effect)}`]),
    ...(sent === null || !isSame ? [`planned    ${inlineJson(step.arguments, 600)}`] : []),
    ...(sent === null ? [] : [`arguments  ${inlineJson(sent, 600)}`]),
    ...(step.dependsOn.length === 0
      ? []
      : [`after      ${step.dependsOn.map((id) => oneLine(id, 80)).join(", ")}`]),
    ...settledNote(step).map((text) => `settled    ${text}`),
    ...(step.error ? [`error      ${oneLine(step.error.message, 1_000)} (${step.error.code})`] : []),
    ...attemptLines(step.attempts),
    ...step.warnings.slice(0, 5).map((warning) => `warning    ${oneLine(warning)}`),
  ];
}

/** Most attempts of one step: the first one, and the latest. */
const MAX_ATTEMPTS = 6;

/** The first attempt shows how it began, the latest ones how it is now. */
function attemptLines(attempts: StepRun["attempts"]): string[] {
  const left = attempts.length - MAX_ATTEMPTS;
  if (left <= 0) return attempts.map(attemptLine);
  const [first, ...others] = attempts;
  return [
    ...(first ? [attemptLine(first)] : []),
    `(${countText(left, "more attempt")}: see --json)`,
    ...others.slice(left).map(attemptLine),
  ];
}

function attemptLine(of: StepRun["attempts"][number]): string {
  const { attempt, startedAt, outcome, durationMs, executor, error } = of;
  const tries = unsentTries(of);
  const took = durationMs === null ? "" : durationText(durationMs);
  const how =
    tries > 0
      ? `${unsentText(of)}${took === "" ? "" : ` in ${took}`}`
      : `${outcome ?? "running"}${took === "" ? "" : ` after ${took}`}`;
  const where = tries > 1 ? `, at last on ${oneLine(executor, 60)}` : ` on ${oneLine(executor, 60)}`;
  return `attempt ${attempt}  ${startedAt}  ${how}${where}${error ? `: ${problem(error)}` : ""}`;
}

function treeLines({ request, nowMs, command }: DebugFacts, style: Style): string[] {
  const steps = request.plan?.steps ?? [];
  const lines = stepTree(steps).flatMap(({ step, branch, below }) => {
    const items = steps.filter(({ id, item }) => id === step.id && item !== null);
    return [
      `${branch}${stepLine(step, items, { style, nowMs })}`,
      ...(step.status === "COMPLETED"
        ? [
            style(
              "quiet",
              `${below}output ${step.outputReference ? largeOutput(step.outputReference, command) : inlineJson(step.output, 160)}`,
            ),
            ...step.warnings.slice(0, 5).map((warning) => `${below}warning ${oneLine(warning)}`),
          ]
        : []),
    ];
  });
  const more = lines.length - MAX_LINES;
  return more > 0 ? [...lines.slice(0, MAX_LINES), `(${countText(more, "more line")}: see --json)`] : lines;
}

/** Most characters of an answer that are printed. */
const MAX_RAW = 4_000;

/** What the model answered, or a client submitted, when it is not a plan that can run. */
function rawLines({ plan }: RequestRecord): string[] {
  if (plan?.status !== "INVALID" || !plan.raw) return [];
  const lines = plan.raw.slice(0, MAX_RAW).split("\n");
  const isCut = plan.raw.length > MAX_RAW;
  return [...lines.map((line) => oneLine(line, 400)), ...(isCut ? ["(more: see --json)"] : [])];
}

function modelCallLines({ modelCalls, status }: RequestRecord): string[] {
  return modelCalls.map((call) => {
    const { purpose, model, latencyMs, inputTokens, outputTokens, finishReason, error } = call;
    if (call.endedAt === null) {
      const state = status === "PLANNING" ? "no answer yet" : "its planner died before it had the answer";
      return oneLine(`${purpose} by ${model}, asked at ${call.createdAt}: ${state}`, 400);
    }
    const tokens = inputTokens === null ? "" : `, ${inputTokens} tokens in and ${outputTokens ?? 0} out`;
    const end = error ? `: ${problem(error)}` : finishReason === null ? "" : `, ended with ${finishReason}`;
    return oneLine(`${purpose} by ${model} in ${durationText(latencyMs)}${tokens}${end}`, 400);
  });
}

/** The input of a report. */
export interface DebugFacts {
  /** The request with everything that reports show. */
  request: RequestRecord;
  /** The tools that are offered now; empty when they could not be read. */
  tools: readonly ToolRecord[];
  /** Now, in milliseconds since 1970. */
  nowMs: number;
  command: CommandLine;
}

/** The name of the server that offers a tool now. */
function serverOf({ tools }: Pick<DebugFacts, "tools">, tool: string): string | undefined {
  return tools.find(({ name }) => name === tool)?.server;
}

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
      what: `${oneLine(stepKey, 80)}: ${settledNote({ settled: { by, resolution } })[0]}`,
    })),
    ...plan.steps.flatMap((step) => settledAfterEnd(plan, step)),
  ];
}

/** A doubt that was settled after the plan had ended is recorded at the step only. */
function settledAfterEnd({ resolutions }: PlanRecord, { key, settled }: StepRun): Moment[] {
  if (!settled || resolutions.some(({ stepKey }) => stepKey === key)) return [];
  return [{ at: settled.at, what: `${oneLine(key, 80)}: ${settledNote({ settled })[0]}` }];
}

function ofSteps({ steps }: PlanRecord): Moment[] {
  return steps.flatMap((step) => {
    if (isCarried(step)) return [];
    const attempts = step.attempts.flatMap((one) => {
      const { attempt, startedAt, endedAt, outcome, error, executor, durationMs } = one;
      const tries = unsentTries(one);
      const name = `${oneLine(step.key, 80)}${attempt > 1 ? ` attempt ${attempt}` : ""}`;
      const took = durationMs === null ? "" : ` after ${durationText(durationMs)}`;
      // A call for several items was answered, and the answer says that this one failed.
      const isFailed = outcome === "completed" && step.status === "FAILED" && one === step.attempts.at(-1);
      const found = isFailed ? step.error : error;
      const why = found ? `: ${problem(found, MAX_MESSAGE)}` : "";
      // Several executors may have tried; the latest is known.
      if (tries > 0)
        return [
          { at: startedAt, what: `${name} tried, nothing was sent` },
          { at: endedAt, what: `${name} tried ${countText(tries, "time")}, nothing was sent${why}` },
        ];
      const how = `${isFailed ? "failed" : (outcome ?? "ended")}${took}${why}`;
      return [
        { at: startedAt, what: `${name} called by ${oneLine(executor, 60)}` },
        { at: endedAt, what: `${name} ${how}` },
      ];
    });
    const hasNoAttempt = step.attempts.length === 0 && step.item === null;
    return [
      ...attempts,
      { at: hasNoAttempt ? step.finishedAt : null, what: `${oneLine(step.key, 80)} ${step.status}` },
    ];
  });
}
