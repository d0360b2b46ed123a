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
import { groupBy, hasRequestEnded, isTerminalPlanStatus } from "@planwright/plan";
import type { Evidence, FinalPlan, FinalRequest, FinalStep, Violation } from "../evidence/evidence.ts";
import { checkControls } from "./check-controls.ts";
import { checkReadings } from "./check-readings.ts";
import { replayJournal } from "./replay-journal.ts";
import {
  lastStatus,
  momentAt,
  newReplayedPlan,
  type ReplayedPlan,
  type ReplayedRequest,
  requestStatusOf,
} from "./replayed-request.ts";

type Report = (id: string, expected: string, found: string) => void;

/** Compares readings and documents with the journals. Pure. */
export function checkJournal(evidence: Evidence): Violation[] {
  const violations: Violation[] = [];
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
