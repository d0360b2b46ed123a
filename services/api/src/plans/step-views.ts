import { executorLost, type FoldedAttempt, type StepRun } from "@planwright/engine";
import {
  acyclicDependencies,
  argumentsOfStep,
  barrierOrder,
  isTerminalPlanStatus,
  isTerminalStepStatus,
  type JsonValue,
  needsPerson,
  type Plan,
  planGraph,
  planNeed,
  type Step,
  type StepStatus,
  stepNeedsPerson,
  toolOfStep,
  type WaitReason,
  waitReasonOfStep,
} from "@planwright/plan";
import {
  isStepWanted,
  type LiveWorkers,
  type Page,
  type PlanDocument,
  type PlanGraph,
  type PlanHead,
  pageOfSteps,
  type RequestDocument,
  type StepFilter,
  stepCursor,
  type UnitResolution,
} from "@planwright/store";
import { type Connection, type PageArguments, parsePage, toConnection } from "../operation/connection.ts";
import type { GraphqlContext } from "../operation/context.ts";
import type { Reads } from "../operation/reads.ts";

/** A version of a plan, with the plan itself. */
type GraphedPlan = Pick<PlanHead, "status" | "lease" | "waitReason" | "resolutions"> & PlanGraph;

/** A step, or one item of a forEach: its run, with what follows from its plan and the live workers. */
export type ShownStep = StepRun & {
  /** The id of the step, as in its plan. */
  id: string;
  dependsOn: readonly string[];
  /** The planned arguments, with references. */
  planned: JsonValue;
  /** Why it waits now. For a step on a page it is a function, because other steps may have to be read. */
  waitsFor: WaitReason | null | (() => Promise<WaitReason | null>);
  /** The decision of an operator that gave the step its status. */
  settled: Settlement | null;
};

/** What a plan was at an entry, beyond the fields of its document. */
export interface PlanThen extends PlanTimes {
  counts: StepCounts;
  mayHaveActed: number;
  waitReason: WaitReason | null;
  steps(graph: PlanGraph): ShownStep[];
}

/**
 * The steps of a plan in plan order, each followed by the started items of its forEach. Pure.
 * Empty without a plan document (INVALID and unreadable).
 */
export function stepViews(plan: GraphedPlan, recorded: readonly StepRun[], live: LiveWorkers): ShownStep[] {
  const finalIds = finalSteps(recorded);
  const barriers = barriersOf(plan);
  const running = new Set(recorded.flatMap(({ status, stepId }) => (status === "RUNNING" ? [stepId] : [])));
  const isBlocked = barriers?.blockedBy(
    barriers.ids.findIndex((id) => !finalIds.has(id)),
    running,
  );
  return viewsOf(plan, inPlanOrder(recorded), live, (document, dependsOn) => {
    const hasOpenDependency =
      dependsOn.some((id) => !finalIds.has(id)) || isBlocked?.(document.stepId) === true;
    return stepWaitReason(document, plan, live, hasOpenDependency);
  });
}

/**
 * Some steps and items of a plan, in the given order.
 * @param statusOf - status of any step of the plan; null for an unknown step
 */
export function stepViewsOfPage(
  plan: GraphedPlan,
  recorded: readonly StepRun[],
  live: LiveWorkers,
  statusOf: (stepId: string) => Promise<StepStatus | null>,
): ShownStep[] {
  return viewsOf(plan, recorded, live, (document, dependsOn) => async () => {
    const reason = (hasOpenDependency: boolean) => stepWaitReason(document, plan, live, hasOpenDependency);
    // For most steps no other step must be read.
    if (reason(true) === reason(false)) return reason(true);
    const barriers = barriersOf(plan)?.before(document.stepId) ?? [];
    const statuses = await Promise.all([...dependsOn, ...barriers].map(statusOf));
    return reason(statuses.some((status) => status === null || !isTerminalStepStatus(status)));
  });
}

/**
 * The attempts of a step; one that has no end, and whose executor is not alive, ended without an answer: it is not
 * running. When it ended is known as soon as another executor takes the plan. Pure.
 */
export function attemptsSeen(
  attempts: FoldedAttempt[],
  { owners }: Pick<LiveWorkers, "owners">,
): FoldedAttempt[] {
  if (attempts.every(({ endedAt }) => endedAt !== null)) return attempts;
  return attempts.map((attempt) =>
    attempt.endedAt !== null || owners.has(attempt.executor)
      ? attempt
      : { ...attempt, outcome: "unknown", error: executorLost(attempt.executor) },
  );
}

function viewsOf(
  document: GraphedPlan,
  recorded: readonly StepRun[],
  live: LiveWorkers,
  waitReasonOf: (document: StepRun, dependsOn: readonly string[]) => ShownStep["waitsFor"],
): ShownStep[] {
  const { plan } = document;
  if (!plan) return [];
  const { dependencies } = planGraph(plan);
  const steps = new Map<string, Step>(plan.steps.map((step) => [step.id, step]));
  return recorded.flatMap((unit) => {
    const step = steps.get(unit.stepId);
    if (!step) return [];
    const dependsOn = dependencies.get(step.id) ?? [];
    return {
      ...unit,
      id: unit.stepId,
      attempts: attemptsSeen(unit.attempts, live),
      dependsOn,
      planned: argumentsOfStep(step),
      waitsFor: waitReasonOf(unit, dependsOn),
      settled: settlementOf(document, unit),
    };
  });
}

/** Ids of the steps with a final status, without items. */
function finalSteps(recorded: readonly StepRun[]): ReadonlySet<string> {
  const isFinal = ({ item, status }: StepRun) => item === null && isTerminalStepStatus(status);
  return new Set(recorded.filter(isFinal).map((document) => document.stepId));
}

/** By position in the plan, a step before its items. */
function inPlanOrder(recorded: readonly StepRun[]): StepRun[] {
  return recorded.toSorted((a, b) => a.position - b.position || (a.item ?? -1) - (b.item ?? -1));
}

/** Tool of each step by step id. */
export function toolsOfSteps(plan: Pick<PlanGraph, "plan">): Map<string, string> {
  return new Map(plan.plan?.steps.map((step) => [step.id, toolOfStep(step)]));
}

/** The barriers of a plan: steps during which no other step runs, according to the tool pins. */
interface PlanBarriers {
  /** Ids of the barrier steps, in order. */
  readonly ids: readonly string[];
  /** The barriers before a step in the plan. */
  before(stepId: string): readonly string[];
  /**
   * A predicate for steps that a barrier blocks: steps after the first open barrier, a barrier while other
   * steps run, and all others while a barrier runs.
   * @param firstOpen - index in `ids` of the first barrier that has not ended; -1 without one
   */
  blockedBy(firstOpen: number, running: ReadonlySet<string>): (stepId: string) => boolean;
}

const barriersOfPlans = new WeakMap<Plan, PlanBarriers | null>();

/** Undefined for a plan without barriers. Cached as long as the plan object exists. */
function barriersOf({ plan, toolPins = [] }: PlanGraph): PlanBarriers | undefined {
  if (!plan) return undefined;
  const tools = new Set(toolPins.flatMap(({ tool, barrier }) => (barrier ? [tool] : [])));
  if (tools.size === 0) return undefined;
  let barriers = barriersOfPlans.get(plan);
  if (barriers === undefined) {
    barriers = readBarriers(plan, tools);
    barriersOfPlans.set(plan, barriers);
  }
  return barriers ?? undefined;
}

function readBarriers(plan: Plan, tools: ReadonlySet<string>): PlanBarriers | null {
  const graph = planGraph(plan);
  const { onCycle } = plan.policy;
  if (graph.cycle && onCycle === "error") return null;
  const dependencies = [...acyclicDependencies(graph, onCycle)];
  const positions = new Map(dependencies.map(([id], position) => [id, position]));
  const barrierSteps = new Set(plan.steps.flatMap((step) => (tools.has(toolOfStep(step)) ? [step.id] : [])));
  const { barriers, before } = barrierOrder(
    dependencies.map(([, list]) => list.flatMap((id) => positions.get(id) ?? [])),
    (position) => barrierSteps.has(dependencies[position]?.[0] ?? ""),
  );
  const ids = barriers.flatMap((position) => dependencies[position]?.[0] ?? []);
  const countBefore = (stepId: string) => before[positions.get(stepId) ?? -1] ?? 0;
  return {
    ids,
    before: (stepId) => ids.slice(0, countBefore(stepId)),
    blockedBy(firstOpen, running) {
      const isBarrierRunning = ids.some((id) => running.has(id));
      return (stepId) =>
        (firstOpen !== -1 && countBefore(stepId) > firstOpen) ||
        (isBarrierRunning && !running.has(stepId)) ||
        (barrierSteps.has(stepId) && running.size > 0 && !running.has(stepId));
    },
  };
}

/** The decision of an operator about a call whose result was unknown. */
interface Settlement {
  resolution: UnitResolution["resolution"]["type"];
  by: string;
  at: Date | null;
}

/**
 * The decision that gave a step or item its status: then its output or error comes from the operator. Null if
 * it comes from the tool, also after an operator requested a repeat of the call. Pure.
 */
export function settlementOf(
  { resolutions }: Pick<PlanHead, "resolutions">,
  { key, attempts, resolvedBy, finishedAt }: Pick<StepRun, "key" | "attempts" | "resolvedBy" | "finishedAt">,
): Settlement | null {
  if (resolvedBy) return { ...resolvedBy, at: finishedAt };
  const decision = resolutions.findLast((one) => one.key === key && one.attempt === attempts.length);
  return decision ? { resolution: decision.resolution.type, by: decision.by, at: decision.at } : null;
}

/** Numbers of steps by status; items of a forEach are not counted separately. */
export interface StepCounts {
  total: number;
  completed: number;
  failed: number;
  skipped: number;
  cancelled: number;
  inDoubt: number;
  /** Started, but not ended. */
  running: number;
  /** Not started. */
  pending: number;
}

const FIELD: Readonly<Record<StepStatus, Exclude<keyof StepCounts, "total">>> = {
  PENDING: "pending",
  WAITING_APPROVAL: "pending",
  RUNNING: "running",
  RETRYING: "running",
  COMPLETED: "completed",
  FAILED: "failed",
  SKIPPED: "skipped",
  IN_DOUBT: "inDoubt",
  CANCELLED: "cancelled",
};

/** Groups the statuses of steps. Pure. @param counted - numbers of steps by status */
export function toStepCounts(total: number, counted: { [status in StepStatus]?: number }): StepCounts {
  const counts: StepCounts = {
    total,
    completed: 0,
    failed: 0,
    skipped: 0,
    cancelled: 0,
    inDoubt: 0,
    running: 0,
    pending: 0,
  };
  for (const [status, field] of Object.entries(FIELD)) counts[field] += counted[status as StepStatus] ?? 0;
  return counts;
}

/** How long a plan took, in milliseconds, until its end or until now; null before its start. */
export interface PlanTimes {
  /** Its own time: from its start, without `waitedForPeopleMs`. */
  durationMs: number | null;
  /** The time in which only a person could continue it. */
  waitedForPeopleMs: number | null;
}

/** Of a plan that has ended it follows from the document, so that lists of plans read no journal for it. */
export async function planTimes(
  plan: Pick<PlanHead, "_id" | "startedAt" | "finishedAt" | "epoch" | "waitedForPeopleMs">,
  reads: Pick<Reads, "waitedForPeopleMs">,
  nowMs: number,
): Promise<PlanTimes> {
  if (!plan.startedAt) return { durationMs: null, waitedForPeopleMs: null };
  const untilMs = plan.finishedAt?.getTime() ?? nowMs;
  const totalMs = Math.max(0, untilMs - plan.startedAt.getTime());
  const waitedForPeopleMs = Math.min(
    totalMs,
    endedAfterMs(plan) ?? (await reads.waitedForPeopleMs(plan._id, new Date(untilMs))),
  );
  return { durationMs: totalMs - waitedForPeopleMs, waitedForPeopleMs };
}

/** How long a plan that has ended had waited for people; undefined when only its journal knows. */
function endedAfterMs({
  finishedAt,
  epoch,
  waitedForPeopleMs,
}: Pick<PlanHead, "finishedAt" | "epoch" | "waitedForPeopleMs">): number | undefined {
  if (!finishedAt) return undefined;
  // A plan that was claimed once was never released, so it did not wait.
  return waitedForPeopleMs ?? (epoch <= 1 ? 0 : undefined);
}

/** The part of a plan that decides why its steps wait. */
type WaitingPlan = Pick<PlanDocument, "status" | "lease" | "waitReason">;
/** The part of a step that decides why it waits. */
type WaitingStep = Pick<StepRun, "status" | "waitReason">;

/**
 * Why a step waits; null while it runs, and after the step or its plan has ended.
 * @param hasOpenDependency - true while a dependency of the step has not ended
 */
export function stepWaitReason(
  step: WaitingStep,
  plan: WaitingPlan,
  live: LiveWorkers,
  hasOpenDependency: boolean,
): WaitReason | null {
  if (isTerminalStepStatus(step.status) || isTerminalPlanStatus(plan.status)) return null;
  const stepReason = waitReasonOfStep(step.status);
  if (stepReason && stepNeedsPerson(step.status)) return stepReason;
  const reason = blockedBy(plan, live);
  if (reason) return reason;
  if (step.status === "RUNNING") return null;
  if (stepReason) return step.waitReason ?? stepReason;
  if (hasOpenDependency) return "dependency";
  return notADependency(step.waitReason) ?? plan.waitReason ?? "limit";
}

/** Why the plan waits; null while an executor works on it, and after it has ended. */
export function planWaitReason(plan: WaitingPlan, live: LiveWorkers): WaitReason | null {
  if (isTerminalPlanStatus(plan.status)) return null;
  return blockedBy(plan, live) ?? (plan.status === "WAITING" ? plan.waitReason : null);
}

/** Why an unfinished plan makes no progress: no client started or resumed it, or no executor holds it. */
function blockedBy(plan: WaitingPlan, live: LiveWorkers): WaitReason | null {
  const need = planNeed(plan);
  if (need === "start" || need === "resume") return "paused";
  return need === "worker" && !isOwned(plan, live) ? withoutOwner(live.executor) : null;
}

/** Why planning waits; null while a planner works on it. */
export function requestWaitReason(
  request: Pick<RequestDocument, "status" | "lease"> & {
    planning: Pick<RequestDocument["planning"], "wait">;
  },
  live: LiveWorkers,
): WaitReason | null {
  if (request.status !== "PLANNING") return null;
  if (isOwned(request, live)) return null;
  return request.planning.wait && live.planner > 0 ? "backoff" : withoutOwner(live.planner);
}

/** The wait reason of work without a worker: a live worker claims it as soon as it has a free slot. */
const withoutOwner = (live: number): WaitReason => (live === 0 ? "no worker" : "limit");

/** False when the owner is dead, and no other worker has claimed the work. */
function isOwned({ lease }: Pick<PlanDocument, "lease">, { owners }: LiveWorkers): boolean {
  return lease !== null && owners.has(lease.owner);
}

/** A recorded "dependency" is outdated when every dependency has ended. */
function notADependency(reason: WaitReason | null): WaitReason | null {
  return reason === "dependency" ? null : reason;
}

/**
 * When the first open approval of a plan expires. Null without one: a doubt and a pause last until a person ends
 * them; and from a decision until an executor has read it.
 */
export function shownExpiryOf(
  plan: Pick<PlanDocument, "status" | "waitReason" | "lease" | "dueAt" | "controls" | "approvalUntil">,
): Date | null {
  if (isTerminalPlanStatus(plan.status) || (plan.controls ?? []).length > 0) return null;
  // Documents of earlier versions have no `approvalUntil`.
  const isParked = !plan.lease && plan.status === "WAITING" && plan.waitReason === "approval";
  return isParked ? plan.dueAt : (plan.approvalUntil ?? null);
}

/**
 * When a plan becomes EXPIRED unless it ends before. Null before its start, and while only a person can continue it:
 * the time of its deadline does not pass then.
 */
export function shownDeadlineOf(
  plan: Pick<PlanDocument, "status" | "waitReason" | "lease" | "deadlineAt">,
): Date | null {
  return !plan.lease && needsPerson(planNeed(plan)) ? null : plan.deadlineAt;
}

/** Arguments of the list. */
export interface StepPageArguments extends PageArguments {
  filter?: StepFilterArgument | null;
}

/** A filter as clients give it. */
export interface StepFilterArgument {
  status?: readonly StepStatus[] | null;
  stepId?: string | null;
  key?: string | null;
  items?: boolean | null;
}

/** A page of steps; they are counted only if totalCount is selected. */
export interface StepConnection extends Connection<ShownStep> {
  totalCount(): Promise<number>;
}

/** One page of a plan's steps and items, in plan order. @throws {BadInputError | CursorInvalidError} */
export async function readStepPage(
  head: Omit<GraphedPlan, keyof PlanGraph> & Pick<PlanHead, "_id"> & { past?: PlanThen },
  asked: StepPageArguments,
  { reads, liveWorkers }: Pick<GraphqlContext, "reads" | "liveWorkers">,
): Promise<StepConnection> {
  const page = parsePage(asked, "steps");
  const plan: GraphedPlan = { ...head, ...((await reads.graph(head._id)) ?? { plan: null }) };
  const filter = toStepFilter(plan, asked.filter ?? {});
  if (head.past && filter) {
    const units = head.past.steps(plan).filter((step) => isStepWanted(step, filter));
    const found = pageOfSteps(units, { ...page, filter });
    return { ...toConnection(found, stepCursor), totalCount: async () => units.length };
  }
  const found: Page<StepRun> = filter
    ? await reads.stepPage(plan._id, { ...page, filter })
    : { items: [], cursor: null };
  const items = stepViewsOfPage(plan, found.items, await liveWorkers(), (stepId) =>
    reads.stepStatus(plan._id, stepId),
  );
  return {
    ...toConnection({ ...found, items }, stepCursor),
    totalCount: async () => (filter ? reads.stepCount(plan._id, filter) : 0),
  };
}

/** The filter of the store; undefined when no step can match. */
export function toStepFilter(
  { plan }: Pick<PlanGraph, "plan">,
  { status, stepId, key, items }: StepFilterArgument,
): StepFilter | undefined {
  const [, stepOfKey = stepId, item] = UNIT_KEY.exec(key ?? "") ?? [];
  const isOfOther = Boolean(stepId && stepOfKey !== stepId);
  const position = stepOfKey ? plan?.steps.findIndex(({ id }) => id === stepOfKey) : undefined;
  if (!plan || position === -1 || isOfOther) return undefined;
  return {
    status: status && status.length > 0 ? [...new Set(status)] : undefined,
    position,
    items: items ?? undefined,
    item: key ? (item === undefined ? null : Number(item)) : undefined,
  };
}

/** The key of a step, "charge", or of an item of a forEach step, "charge[7]". */
const UNIT_KEY = /^(.+?)(?:\[(0|[1-9]\d*)\])?$/su;
