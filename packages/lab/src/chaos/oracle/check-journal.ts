/**
 * Replays the journal of every request by the oracle's own rules and compares it with the readings of clients
 * and with the documents.
 *
 * 1. Every journal follows the rules of {@link replayJournal}.
 * 2. At the end, plans, steps, items and requests in documents and API agree with their journal.
 * 3. Every reading of a client is a state that the journal passed through, in order, and includes everything
 *    that was durable before the reading.
 * 4. The journal of a planned request begins with its planning and contains the storing of every plan.
 * 5. Every answered control is in the journal once, with the name of its client. No other control is.
 */
import { isDeepStrictEqual } from "node:util";
import {
  ENDED_REQUEST_STATUSES,
  groupBy,
  hasRequestEnded,
  isTerminalPlanStatus,
  type PlanStatus,
} from "@planwright/plan";
import type {
  AskedVersion,
  BrokenPromise,
  ClientControl,
  Evidence,
  FinalPlan,
  FinalRequest,
  FinalStep,
  Reading,
  SeenReading,
} from "../evidence.ts";
import {
  lastStatus,
  momentAt,
  newReplayedPlan,
  type RecordedControl,
  type ReplayedPlan,
  type ReplayedRequest,
  replayJournal,
  requestStatusOf,
} from "./replay-journal.ts";

export type Report = (id: string, expected: string, found: string) => void;

/** Compares readings and documents with the journals. Pure. */
export function checkJournal(evidence: Evidence): BrokenPromise[] {
  const violations: BrokenPromise[] = [];
  const report: Report = (id, expected, found) =>
    void violations.push({ kind: "unlikeJournal", id, expected, found });
  const entriesOf = groupBy(evidence.journal, ({ requestId }) => requestId);
  const plansOf = groupBy(evidence.plans, ({ requestId }) => requestId);
  const unitsOf = groupBy(evidence.steps, ({ planId }) => planId);
  const readingsOf = groupBy(evidence.readings, ({ requestId }) => requestId);
  const controlsOf = groupBy(evidence.controls, ({ requestId }) => requestId);
  const ids = new Set([
    ...evidence.requests.map(({ _id }) => _id),
    ...entriesOf.keys(),
    ...readingsOf.keys(),
  ]);
  for (const id of ids) {
    const replayed = replayJournal(id, entriesOf.get(id) ?? []);
    const request = evidence.requests.find(({ _id }) => _id === id);
    for (const fault of replayed.faults) report(fault.id, fault.expected, fault.found);
    const plans = (plansOf.get(id) ?? []).toSorted((one, other) => one.version - other.version);
    checkBeginning(replayed, request, plans, report);
    const byId = withUnrecorded(replayed, plans, report);
    for (const plan of plans) checkPlan(byId.get(plan._id), plan, unitsOf.get(plan._id) ?? [], report);
    checkRequest(request, byId, replayed, report);
    const facts = { requestId: id, lastSeq: replayed.seq, replayed: byId, plans };
    checkReadings(facts, readingsOf.get(id) ?? [], report);
    checkControls(facts, controlsOf.get(id) ?? [], evidence.asked, report);
  }
  return violations;
}

/** The first event of a planned request is planning.began. */
function checkBeginning(
  { requestId, beginsWith, isPlanned }: ReplayedRequest,
  request: FinalRequest | undefined,
  plans: readonly FinalPlan[],
  report: Report,
): void {
  if (request?.source !== "query" || isPlanned) return;
  // No planner has taken it yet.
  if (beginsWith === null && plans.length === 0 && !hasRequestEnded(request.status)) return;
  report(requestId, "a journal that begins with planning.began", beginsWith ?? "no entry");
}

/** Plans by their journals. A submitted plan without an entry is as it was stored. */
function withUnrecorded(
  { requestId, isPlanned, plans: recorded }: ReplayedRequest,
  plans: readonly FinalPlan[],
  report: Report,
): Map<string, ReplayedPlan> {
  const known = new Set(plans.map(({ _id }) => _id));
  for (const { planId } of recorded.values())
    if (!known.has(planId)) report(requestId, "only entries of its plans", `entries of ${planId}`);
  const found = new Map(recorded);
  for (const { _id: planId, version } of plans) {
    if (found.has(planId)) continue;
    if (version > 1 || isPlanned) report(requestId, `an entry that stored ${planId}`, "none");
    found.set(planId, newReplayedPlan({ planId, version, storedSeq: 0, units: new Map() }));
  }
  return found;
}

function checkPlan(
  replayed: ReplayedPlan | undefined,
  plan: FinalPlan,
  units: readonly FinalStep[],
  report: Report,
): void {
  if (replayed === undefined) return;
  const { _id: id, requestId, version, status } = plan;
  const replayedStatus = lastStatus(replayed);
  const place =
    replayed.endedSeq === null ? `journal of ${requestId}` : `${requestId} entry ${replayed.endedSeq}`;
  // A plan becomes invalid or superseded when it is stored, without a further entry.
  const needsNoEntry = replayedStatus === "READY" && (status === "QUEUED" || status === "INVALID");
  if (
    replayedStatus !== status &&
    !needsNoEntry &&
    (isTerminalPlanStatus(status) || isTerminalPlanStatus(replayedStatus))
  )
    report(id, `${replayedStatus}, by the ${place}`, `a document that is ${status}`);
  if (replayedStatus !== status && replayedStatus === "WAITING")
    report(id, `${replayedStatus}, by the ${place}`, `a document that is ${status}`);
  if (version !== replayed.version) report(id, `version ${replayed.version}, by the ${place}`, `${version}`);
  const keys = new Set(units.map(({ key }) => key));
  for (const key of replayed.units.keys())
    if (!keys.has(key)) report(`${id}/${key}`, `a unit, by the ${place}`, "none");
  for (const unit of units) checkUnit(replayed, unit, requestId, report);
  checkCounts(replayed, plan, report);
}

function checkUnit(replayed: ReplayedPlan, unit: FinalStep, requestId: string, report: Report): void {
  const moment = momentAt(replayed, unit.key, Number.POSITIVE_INFINITY);
  if (moment === undefined)
    return report(unit._id, `no such unit, by the journal of ${requestId}`, unit.status);
  const differ = (what: string, expected: string, found: string): void =>
    report(unit._id, `${what} ${expected}, by ${requestId} entry ${moment.seq}`, found);
  if (moment.status !== unit.status) differ("status", moment.status, unit.status);
  if (moment.attempts !== unit.attempts.length)
    differ("attempts", String(moment.attempts), String(unit.attempts.length));
  if (
    moment.status === "COMPLETED" &&
    !moment.isStoredSeparately &&
    !isDeepStrictEqual(moment.output ?? null, unit.output)
  )
    differ("output", JSON.stringify(moment.output), JSON.stringify(unit.output));
  if (moment.errorCode !== (unit.error?.code ?? null))
    differ("error", moment.errorCode ?? "none", unit.error?.code ?? "none");
  const carriedFrom = replayed.units.get(unit.key)?.carriedFrom ?? null;
  if (carriedFrom !== unit.carriedFrom)
    differ("carried from", carriedFrom ?? "none", unit.carriedFrom ?? "none");
}

/** Compares the counts in the document of an ended plan. */
function checkCounts(
  replayed: ReplayedPlan,
  { _id, requestId, plan, counts }: FinalPlan,
  report: Report,
): void {
  if (replayed.endedSeq === null || counts === null) return;
  const counted: { [status: string]: number } = {};
  for (const { id } of plan?.steps ?? []) {
    const status = momentAt(replayed, id, replayed.endedSeq)?.status ?? "PENDING";
    counted[status] = (counted[status] ?? 0) + 1;
  }
  if (!isDeepStrictEqual(counted, counts))
    report(
      _id,
      `${JSON.stringify(counted)}, by ${requestId} entry ${replayed.endedSeq}`,
      JSON.stringify(counts),
    );
}

function checkRequest(
  request: FinalRequest | undefined,
  replayed: ReadonlyMap<string, ReplayedPlan>,
  { planningEndedAs }: ReplayedRequest,
  report: Report,
): void {
  const plan = request && replayed.get(request.planId);
  if (request === undefined) return;
  if (planningEndedAs === "CANCELLED" || (plan === undefined && planningEndedAs !== null)) {
    if (request.status !== planningEndedAs)
      report(request._id, `${planningEndedAs}, as its planning by its journal`, request.status);
    return;
  }
  if (plan === undefined) return;
  const expected = requestStatusOf(plan);
  if (expected === undefined ? hasRequestEnded(request.status) : expected !== request.status)
    report(
      request._id,
      `the status that follows from its plan, ${lastStatus(plan)} by its journal`,
      request.status,
    );
}

/** A request by its journal, with the documents of its plans. */
interface JournalFacts {
  requestId: string;
  lastSeq: number;
  /** By planId. */
  replayed: ReadonlyMap<string, ReplayedPlan>;
  plans: readonly FinalPlan[];
}

type SeenPlan = NonNullable<Reading["plan"]>;
type SeenStep = SeenPlan["steps"][number];

const ENDED_STATUSES: ReadonlySet<string> = new Set(ENDED_REQUEST_STATUSES);

/** Compares the readings of one running request, in their order, with its journal (rule 3). Pure. */
function checkReadings(
  { requestId, lastSeq, replayed, plans }: JournalFacts,
  readings: readonly SeenReading[],
  report: Report,
): void {
  const stepIds = new Map(
    plans.map(({ _id, plan }) => [_id, (plan?.steps ?? []).map((step): string => step.id)]),
  );
  /** The seq before which no further reading may show a state. */
  let from = 0;
  for (const { reading, afterSeq } of readings) {
    const seen = reading.plan;
    if (seen === null) continue;
    const plan = replayed.get(reading.planId);
    if (plan === undefined) {
      report(requestId, "plans of its journal", `a client saw ${reading.planId}`);
      continue;
    }
    const expected = new Set(statusesFrom(plan, afterSeq));
    if (!expected.has(seen.status))
      report(
        requestId,
        `${plan.planId} as one of ${[...expected].join(", ")}`,
        `a client saw it ${seen.status}`,
      );
    if (ENDED_STATUSES.has(reading.status) && reading.status !== requestStatusOf(plan))
      report(
        requestId,
        `the status that follows from ${plan.planId}, ${lastStatus(plan)}`,
        `a client saw it ${reading.status}`,
      );
    // A client reads the end of a plan from the plan's document, which is written after the entry. It reads
    // the steps after that.
    const endSeq = isTerminalPlanStatus(seen.status) ? (plan.endedSeq ?? 0) : 0;
    from = Math.max(from, afterSeq, plan.storedSeq, endSeq);
    const match = entryOf(plan, stepIds.get(plan.planId) ?? [], seen, { from, to: lastSeq });
    if (typeof match === "number") from = match;
    else report(`${requestId} ${plan.planId}`, match.expected, match.found);
  }
}

/**
 * Statuses of the plan that a reading after this entry may show. A document that no worker has written shows
 * QUEUED.
 */
function statusesFrom({ statuses }: ReplayedPlan, afterSeq: number): PlanStatus[] {
  if (afterSeq === 0) return [...statuses.map(({ status }) => status), "QUEUED"];
  const now = statuses.findLast(({ seq }) => seq <= afterSeq)?.status ?? "READY";
  const later = statuses.filter(({ seq }) => seq > afterSeq).map(({ status }) => status);
  return now === "READY" ? [now, "QUEUED", ...later] : [now, ...later];
}

/**
 * The first seq after which the plan was as the client read it; without one, a description of the difference.
 */
function entryOf(
  plan: ReplayedPlan,
  stepIds: readonly string[],
  { steps }: SeenPlan,
  { from, to }: { from: number; to: number },
): number | { expected: string; found: string } {
  for (let seq = from; seq <= to; seq++) {
    const keys = new Set([...stepIds, ...plan.units.keys()].filter((key) => momentAt(plan, key, seq)));
    if (keys.size === steps.length && steps.every((step) => keys.has(step.key) && wasAt(plan, step, seq)))
      return seq;
  }
  const span = `between entries ${from} and ${to}`;
  for (const step of steps) {
    const moments = [from, ...(plan.units.get(step.key)?.moments ?? []).map(({ seq }) => seq)];
    if (moments.some((seq) => seq >= from && wasAt(plan, step, seq))) continue;
    const expected = moments
      .filter((seq) => seq >= from)
      .map((seq) => wordsOf(momentAt(plan, step.key, seq), seq));
    return {
      expected: `${step.key} ${span} as ${expected.join("; ")}`,
      found: `a client saw it ${wordsOf(step)}`,
    };
  }
  const found = steps.map(({ key, status }) => `${key} ${status}`).join(", ");
  return { expected: `all steps as after one entry ${span}`, found: `a client saw ${found}` };
}

function wasAt(plan: ReplayedPlan, { key, status, output, attempts }: SeenStep, seq: number): boolean {
  const moment = momentAt(plan, key, seq);
  if (moment === undefined || moment.status !== status) return false;
  if (attempts !== undefined && attempts.length !== moment.attempts) return false;
  const isCompared = status === "COMPLETED" && !moment.isStoredSeparately;
  return !isCompared || isDeepStrictEqual(output, moment.output ?? null);
}

function wordsOf(
  unit: { status: string; attempts?: number | readonly unknown[] | undefined; output?: unknown } | undefined,
  seq?: number,
): string {
  if (unit === undefined) return "not there";
  const { status, attempts, output = null } = unit;
  const count = typeof attempts === "number" ? attempts : attempts?.length;
  const tries = count === undefined ? "" : ` (${count} attempts)`;
  const result = output === null ? "" : ` with ${JSON.stringify(output).slice(0, 200)}`;
  return `${status}${tries}${result}${seq === undefined ? "" : ` at entry ${seq}`}`;
}

/** Compares the controls that clients sent with the journal of one request (rule 5). Pure. */
function checkControls(
  { requestId, replayed }: JournalFacts,
  asked: readonly ClientControl[],
  versions: readonly AskedVersion[],
  report: Report,
): void {
  for (const plan of replayed.values()) checkRecorded(plan, asked, report);
  for (const ask of asked) {
    const { planId, type, by, subject } = ask;
    if (planId === null) continue;
    const plan = replayed.get(planId);
    const recorded = (plan?.controls ?? []).filter((control) => isOf(ask, control));
    if (recorded.length !== 1)
      report(
        requestId,
        `${type} of ${planId}, ${subject}, by ${by} once, as a client was answered`,
        `${recorded.length} of them`,
      );
  }
  for (const { requestId: of, storedAs } of versions) {
    if (of !== requestId || storedAs === null || (replayed.get(storedAs)?.storedSeq ?? 0) > 0) continue;
    report(requestId, `an entry that stored ${storedAs}, as a client was answered`, "none");
  }
}

/** Each control in the journal appears once and was sent by its client. */
function checkRecorded({ controls }: ReplayedPlan, asked: readonly ClientControl[], report: Report): void {
  for (const same of groupBy(controls, ({ type, subject }) => `${type} ${subject}`).values()) {
    const [first] = same;
    // A plan may be paused and resumed many times.
    const isOnce = first?.type !== "pause.asked" && first?.type !== "resume.asked";
    for (const { id, type, subject } of isOnce ? same.slice(1) : [])
      report(id, `${type} of ${subject} once, as in ${first?.id}`, "a second one");
  }
  for (const control of controls) {
    if (!asked.some((ask) => isOf(ask, control)))
      report(
        control.id,
        "a control that a client sent",
        `${control.type} of ${control.subject} by ${control.by}`,
      );
  }
}

function isOf(ask: ClientControl, control: RecordedControl): boolean {
  return ask.type === control.type && ask.by === control.by && ask.subject === control.subject;
}
