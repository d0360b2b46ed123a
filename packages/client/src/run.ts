/**
 * The one selection of a run: a request, its current plan, and the plan's steps. The command line, the console, the
 * demo and {@link FOLLOW_REQUEST} spread these fragments, and every function that shows a part of a run takes the
 * types that are inferred from them. A new field of a step is added to {@link STEP_RUN}, and to {@link NEVER_RAN} with
 * its value before the first call.
 */
import {
  countText,
  ENDED_REQUEST_STATUSES,
  type JsonValue,
  REQUEST_STATUSES_WITH_RESULTS,
  type StateLook,
  stateLook,
  stepsInDoubt,
  stepsToApprove,
} from "@planwright/plan";
import type { ResultOf } from "gql.tada";
import { graphql } from "./schema/graphql.ts";

/** One try of a step. */
export const ATTEMPT_RUN = graphql(`
  fragment AttemptRun on Attempt {
    attempt attemptId executor startedAt endedAt durationMs outcome effect error { code message } unsent { tries since }
  }
`);

/** A step, or an item of a forEach step, without its values: see {@link STEP_VALUES}. */
export const STEP_RUN = graphql(
  `
  fragment StepRun on Step {
    id key item tool status dependsOn waitReason approved approvalHash settled { resolution by at } carriedFrom
    effectClass effect nextAttemptAt expiresAt startedAt finishedAt durationMs waitedForPeopleMs warnings
    error { code message retryable remedy }
    attempts { ...AttemptRun }
  }
`,
  [ATTEMPT_RUN],
);

/** The values of a step, which may be large: read them for the steps that are shown in full. */
export const STEP_VALUES = graphql(`
  fragment StepValues on Step {
    key arguments resolvedArguments resolvedArgumentsPreview { sizeBytes text }
    output outputReference { ref sizeBytes preview }
  }
`);

/** One diagnostic of a plan. */
export const DIAGNOSTIC = graphql(
  `fragment RunDiagnostic on Diagnostic { code severity stepId path message suggestion }`,
);

/** A version of a plan, without its steps, document and outputs. */
export const PLAN_RUN = graphql(
  `
  fragment PlanRun on Plan {
    planId version status waitReason executor epoch createdAt queuedAt startedAt finishedAt durationMs
    waitedForPeopleMs cancelRequestedAt pauseRequestedAt deadlineAt expiresAt
    origin { kind model } error { code message retryable remedy }
    counts { total completed failed skipped cancelled inDoubt running pending }
    diagnostics { ...RunDiagnostic }
    approvals { stepId approved approvalHash reason by at }
    resolutions { stepKey attempt resolution by at }
  }
`,
  [DIAGNOSTIC],
);

/** A request without its plan. */
export const REQUEST_RUN = graphql(
  `
  fragment RequestRun on Request {
    requestId planId status source query title tags version autoExecute maxReplans questions waitReason
    answerRequested answer answerError { code message remedy }
    createdAt planningStartedAt planningFinishedAt error { code message remedy } traceId traceUrl
    answers { question answer at }
    openQuestions { id question stepId tool parameter schema }
    modelWait { error { code message } since tries nextAttemptAt until }
    diagnostics { ...RunDiagnostic }
  }
`,
  [DIAGNOSTIC],
);

/** A request with its current plan and the plan's steps, without values: small enough to be followed. */
export const RUN = graphql(
  `fragment Run on Request { ...RequestRun plan { ...PlanRun steps { ...StepRun } } }`,
  [REQUEST_RUN, PLAN_RUN, STEP_RUN],
);

/** What a person or an agent reads about a request beside its run: the cause, its reasons, and what to do next. */
export const REQUEST_DIAGNOSIS = graphql(`
  fragment RequestDiagnosis on Request {
    diagnosis {
      cause { code severity message errorCode } reasons stepKeys since
      next { description operation arguments command }
    }
  }
`);

/** One call of a model, with its prompt and its answer. */
export const MODEL_CALL = graphql(`
  fragment ModelCallRun on ModelCall {
    id purpose model messages { role content } answer finishReason inputTokens outputTokens cachedInputTokens latencyMs
    costUsd pricing attempt error { code message } createdAt endedAt
  }
`);

/** One event of the journal. */
export const JOURNAL_EVENT = graphql(`
  fragment RunEvent on JournalEvent {
    id seq at by { kind id } planId type stepId key attempt status reason error { code message } facts
  }
`);

/** What a debug bundle holds of a request beside its plans, calls and events. */
export const BUNDLED_REQUEST = graphql(
  `
  fragment BundledRequest on Request {
    ...RequestRun ...RequestDiagnosis seq updatedAt priority policy replans context { now timezone locale facts }
  }
`,
  [REQUEST_RUN, REQUEST_DIAGNOSIS],
);

/** What a debug bundle holds of a step or item. */
export const BUNDLED_STEP = graphql(
  `fragment BundledStep on Step { ...StepRun ...StepValues error { data } attempts { error { data } } }`,
  [STEP_RUN, STEP_VALUES],
);

/** The format of {@link DebugBundle}; 1 had the field names of the store. */
export const BUNDLE_FORMAT = 2;

/** The document of `debugBundle`: the API's answers to the selections above, without secrets, as far as they fit. */
export interface DebugBundle {
  formatVersion: typeof BUNDLE_FORMAT;
  requestId: string;
  generatedAt: string;
  /** Null when it did not fit. */
  request: ResultOf<typeof BUNDLED_REQUEST> | null;
  /** Newest version first. */
  plans: (Omit<PlanRun, "steps"> & {
    document: JsonValue;
    raw: string | null;
    /** Named outputs that are stored with the plan. */
    outputs: JsonValue;
    steps: ResultOf<typeof BUNDLED_STEP>[];
  })[];
  /** Oldest first. */
  modelCalls: ResultOf<typeof MODEL_CALL>[];
  /** The pinned tools, and what changed since. */
  tools: JsonValue[];
  /** Oldest first. */
  events: ResultOf<typeof JOURNAL_EVENT>[];
  /** The parts that are missing: where, how many, their size in bytes if it is known, and why. */
  leftOut: { where: string; count: number; sizeBytes: number | null; reason: string }[];
}

/** A request with its current plan. */
export type RequestRun = ResultOf<typeof RUN>;
/** A request in full, as {@link READ_FULL} reads it. */
export type FullRequest = ResultOf<typeof READ_FULL>["request"] & {};
/** A version of its plan, with its steps. */
export type PlanRun = NonNullable<RequestRun["plan"]>;
/** One step, or one item of a forEach step. */
export type StepRun = ResultOf<typeof STEP_RUN>;
/** One try of it. */
type AttemptRun = ResultOf<typeof ATTEMPT_RUN>;
/** The values of a step. */
export type StepValues = ResultOf<typeof STEP_VALUES>;
/** One diagnostic of a plan. */
export type RunDiagnostic = ResultOf<typeof DIAGNOSTIC>;
/** The API's diagnosis of a request. */
export type Diagnosis = ResultOf<typeof REQUEST_DIAGNOSIS>["diagnosis"];

const VERDICTS: Readonly<Record<Settlement["resolution"], string>> = {
  completed: "it completed",
  failed: "it failed",
  retry: "it did not happen",
};

/** How an operator settled a doubt, in words: "an operator (ann) said that it completed". */
export function settlementText({ by, resolution }: Pick<Settlement, "by" | "resolution">): string {
  return `an operator (${by}) said that ${VERDICTS[resolution]}`;
}

type Settlement = NonNullable<StepRun["settled"]>;

/** How often an attempt was tried of which nothing was sent; 0 when something was. */
export function unsentTries(attempt: Pick<AttemptRun, "unsent"> | undefined): number {
  return attempt?.unsent?.tries ?? 0;
}

/** The same in words: "nothing sent, tried 3 times". */
export function unsentText(attempt: Pick<AttemptRun, "unsent">): string {
  return `nothing sent, tried ${countText(unsentTries(attempt), "time")}`;
}

/** What happens to a call whose answer is lost, by its effect class. */
interface EffectClassWords {
  letter: string;
  /** In a few words. */
  brief: string;
  text: string;
}

/** All effect classes. */
export const EFFECT_CLASSES: readonly EffectClassWords[] = [
  {
    letter: "R",
    brief: "reads, or may be repeated",
    text: "R: the call only reads or may be repeated",
  },
  {
    letter: "K",
    brief: "repeated safely by its key",
    text: "K: the tool honours the idempotency key, so the call can be sent again safely",
  },
  {
    letter: "V",
    brief: "another tool can look whether it happened",
    text: "V: another tool reports whether the call happened",
  },
  {
    letter: "U",
    brief: "never repeated by itself",
    text: "U: a call whose outcome is unknown is never sent again automatically",
  },
];

/** The effect class of the latest call of a step; null before its first call. */
export function effectClassOfStep({
  effectClass: letter,
}: Pick<StepRun, "effectClass">): EffectClassWords | null {
  if (letter === null) return null;
  return EFFECT_CLASSES.find((known) => known.letter === letter) ?? { letter, brief: letter, text: letter };
}

/** What a step that never ran has in a run, beside its place in the plan. */
export const NEVER_RAN = {
  item: null,
  carriedFrom: null,
  waitReason: null,
  effectClass: null,
  effect: null,
  approved: false,
  approvalHash: null,
  warnings: [],
  nextAttemptAt: null,
  expiresAt: null,
  startedAt: null,
  finishedAt: null,
  durationMs: null,
  waitedForPeopleMs: null,
  error: null,
  settled: null,
  attempts: [],
} satisfies Partial<StepRun>;

/** What a step has in a run that an earlier version of its plan has completed. */
export const carriedOver = (planId: string) => ({ status: "COMPLETED", carriedFrom: planId }) as const;

/** Reads a request once. */
export const READ_RUN = graphql(`query ($requestId: ID!) { request(requestId: $requestId) { ...Run } }`, [
  RUN,
]);

/** A request in full: its run, its diagnosis, and the outputs of its plan. */
export const READ_FULL = graphql(
  `query ($requestId: ID!) {
    request(requestId: $requestId) {
      ...RequestRun ...RequestDiagnosis
      plan { ...PlanRun steps { ...StepRun } outputs outputReferences { name ref sizeBytes } }
    }
  }`,
  [REQUEST_RUN, REQUEST_DIAGNOSIS, PLAN_RUN, STEP_RUN],
);

/** Sends a request now, and again after each change. */
export const FOLLOW_REQUEST = graphql(
  `subscription ($requestId: ID!) { request: requestUpdated(requestId: $requestId) { ...Run } }`,
  [RUN],
);

/**
 * The decision of a client or operator that a request waits for: answer a question, start it, approve a step,
 * settle a doubt, sign in at a tool server, resume it.
 */
export type Need = "input" | "start" | "approval" | "doubt" | "sign-in" | "resume";

/** The decision that a request waits for; null while it continues by itself, and when it has ended. */
export function needOf(request: RequestRun): Need | null {
  if (request.status === "NEEDS_INPUT") return "input";
  const { plan } = request;
  if (request.status === "READY" && !request.autoExecute) return "start";
  if (request.status !== "EXECUTING" || !plan) return null;
  if (plan.status === "PAUSED") return "resume";
  if (plan.status !== "WAITING") return null;
  if (plan.waitReason === "approval" && stepsToApprove(plan).length > 0) return "approval";
  if (plan.waitReason === "in doubt" && stepsInDoubt(plan).length > 0) return "doubt";
  return plan.waitReason === "sign-in" ? "sign-in" : null;
}

/** The words, mark and tone of a request: while it is executed, those of its plan. Pure. */
export function requestLook({ status, waitReason, plan }: ShownRequest): StateLook {
  if (status !== "EXECUTING" || !plan) return stateLook("request", { status, waitReason });
  return plan.status === "RUNNING"
    ? stateLook("request", { status, waitReason: plan.waitReason })
    : stateLook("plan", plan);
}

/** The part of a request that {@link requestLook} reads. */
interface ShownRequest {
  status: string;
  waitReason: string | null;
  plan: { status: string; waitReason: string | null } | null;
}

/** Statuses of a request that has ended. */
export const ENDED: ReadonlySet<string> = new Set(ENDED_REQUEST_STATUSES);

/** True when nothing will change any more. */
export function hasEnded(request: RequestRun): boolean {
  return ENDED.has(request.status) && !awaitsAnswer(request);
}

const WITH_RESULTS: ReadonlySet<string> = new Set(REQUEST_STATUSES_WITH_RESULTS);

/** True when the plan has ended and a model is still writing the answer in words. */
export function awaitsAnswer({ status, answerRequested, answer, answerError }: RequestRun): boolean {
  return WITH_RESULTS.has(status) && answerRequested && answer === null && answerError === null;
}

/** True when nothing will change unless a client or operator acts. */
export function isAtRest(request: RequestRun): boolean {
  return hasEnded(request) || needOf(request) !== null;
}

/** A cancel or pause that waits for running calls. */
export interface PendingControl {
  control: "cancelling" | "pausing";
  /** When it was requested, as the API wrote it. */
  since: string;
  /** Number of running calls; null when the steps are not known. */
  calls: number | null;
}

type ControlledPlan = Pick<PlanRun, "status" | "finishedAt" | "cancelRequestedAt" | "pauseRequestedAt"> & {
  steps?: readonly Pick<StepRun, "id" | "item" | "status">[];
};

/**
 * The cancel or pause that was requested and is not complete; null if there is none. A cancel takes
 * precedence. Pure.
 */
export function pendingControl(plan: ControlledPlan | null): PendingControl | null {
  if (!plan || plan.finishedAt !== null) return null;
  const calls = plan.steps ? runningCalls(plan.steps) : null;
  if (plan.cancelRequestedAt !== null) return { control: "cancelling", since: plan.cancelRequestedAt, calls };
  if (plan.pauseRequestedAt === null || plan.status === "PAUSED") return null;
  return { control: "pausing", since: plan.pauseRequestedAt, calls };
}

/** The same in words: "cancelling: waits for 2 running calls". */
export function pendingText({ control, calls }: Pick<PendingControl, "control" | "calls">): string {
  if (calls === null || calls === 0) return control;
  return `${control}: waits for ${countText(calls, "running call")}`;
}

/** The number of running calls. Of a forEach step the items count, not the step itself. */
function runningCalls(steps: readonly Pick<StepRun, "id" | "item" | "status">[]): number {
  const lists = new Set(steps.filter(({ item }) => item !== null).map(({ id }) => id));
  return steps.filter(({ id, item, status }) => status === "RUNNING" && (item !== null || !lists.has(id)))
    .length;
}

/** The fields of a step that the tree needs. */
export interface TreeStep {
  id: string;
  /** Position in its list, for an item of a forEach step; null or absent for a step. */
  item?: number | null;
  dependsOn: readonly string[];
}

/** A step with the lines that are drawn beside it. */
export interface TreeRow<Step extends TreeStep> {
  step: Step;
  /** Printed before the step, such as "│  └─ ". */
  branch: string;
  /** Printed before further lines of the same step. */
  below: string;
}

/** Levels that are indented. Deeper steps are drawn below each other, so that they fit a screen. */
const MAX_DEPTH = 12;

/**
 * The steps as a tree. Each step appears once, below the one of its dependencies that comes last in the plan.
 * The caller draws the items of a forEach step. Pure. Without recursion: a plan may be a chain of a thousand
 * steps.
 */
export function stepTree<Step extends TreeStep>(steps: readonly Step[]): TreeRow<Step>[] {
  const plain = steps.filter(({ item = null }) => item === null);
  const position = new Map(plain.map((step, index) => [step.id, index]));
  const children = new Map<string | undefined, Step[]>();
  for (const [index, step] of plain.entries()) {
    const earlier = step.dependsOn.filter((id) => (position.get(id) ?? index) < index);
    const parent = earlier.toSorted((a, b) => (position.get(a) ?? 0) - (position.get(b) ?? 0)).at(-1);
    children.set(parent, [...(children.get(parent) ?? []), step]);
  }
  const rows: TreeRow<Step>[] = [];
  const stack = levelOf(children.get(undefined), "", 0);
  for (let next = stack.pop(); next; next = stack.pop()) {
    const { step, indent, isLast, depth } = next;
    const isDeep = depth >= MAX_DEPTH;
    const inner = isDeep ? indent : indent + (isLast ? "   " : "│  ");
    const childSteps = children.get(step.id);
    rows.push({
      step,
      branch: isDeep ? `${indent}↳  ` : `${indent}${isLast ? "└─ " : "├─ "}`,
      below: `${inner}${childSteps && !isDeep ? "│  " : "   "}`,
    });
    stack.push(...levelOf(childSteps, inner, depth + 1));
  }
  return rows;
}

/** In reverse order, because the stack returns the last one first. */
function levelOf<Step>(steps: readonly Step[] | undefined, indent: string, depth: number) {
  const all = steps ?? [];
  return all.map((step, index) => ({ step, indent, depth, isLast: index === all.length - 1 })).toReversed();
}
