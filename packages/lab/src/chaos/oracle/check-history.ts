/**
 * Reads every write of a run in the order in which MongoDB made them, and checks:
 * 1. The epoch of a plan or step never goes down.
 * 2. No write follows the end of a plan, step or request. Exception: a new version gives the request its next plan.
 * 3. A step has no call before all its dependencies were COMPLETED, unless it was carried over.
 * 4. Only the process that holds the epoch of a write writes a step.
 * 5. A new item of a forEach has no older epoch than its step.
 * 6. No document is deleted.
 * 7. Every journal entry fits the entries before it.
 * 8. Statuses follow the moves of the lifecycle tables.
 */
import {
  canMove,
  hasRequestEnded,
  isTerminalPlanStatus,
  isTerminalStepStatus,
  PLAN_LIFECYCLE,
  PlanStatusSchema,
  planGraph,
  REQUEST_LIFECYCLE,
  RequestStatusSchema,
  STEP_LIFECYCLE,
  StepStatusSchema,
} from "@planwright/plan";
import type { Change } from "../evidence/change.ts";
import type { Evidence, Violation, ViolationKind } from "../evidence/evidence.ts";

const SIGNS_OF_A_CALL = new Set(["RUNNING", "RETRYING", "COMPLETED", "IN_DOUBT"]);

interface Known {
  status: string | undefined;
  epoch: number | undefined;
}

/** All violations in the history. Pure. */
export function checkHistory({
  changes,
  plans,
  asked,
}: Pick<Evidence, "changes" | "plans" | "asked">): Violation[] {
  const violations: Violation[] = [];
  const report = (kind: ViolationKind, id: string, expected: string, found: string): void => {
    violations.push({ kind, id, expected, found });
  };
  const dependenciesOf = readDependencies(plans);
  const askedAgain = new Set(asked.map(({ requestId }) => requestId));
  const known = new Map<string, Known>();
  /** `{planId}/{epoch}` to the executor that holds the epoch. */
  const ownerOf = new Map<string, string>();

  for (const change of changes) {
    const { id, collection, type } = change;
    const before = known.get(id);
    if (type === "delete") {
      report("lost", id, "no deleted document", `a delete in ${collection}`);
      continue;
    }
    if (type === "invalid") {
      report("staleWrites", id, "an entry that follows from those before it", change.reason ?? "");
      continue;
    }
    if (before?.status !== undefined && hasEnded(collection, before.status)) {
      const written = `${change.status ?? before.status}, fields ${change.fields.join(", ")}`;
      if (collection !== "requests") report("staleWrites", id, `no write after ${before.status}`, written);
      else if (askedAgain.has(id) && change.fields.includes("planId")) known.delete(id);
      else if (change.status !== undefined && change.status !== before.status) {
        report("regressions", id, `${before.status} for good`, change.status);
      }
    }
    if (before?.status !== undefined && change.status !== undefined) {
      const isMove = mayFollow(collection, before.status, change.status);
      if (!isMove) report("regressions", id, `a status that may follow ${before.status}`, change.status);
    }
    if (before?.epoch !== undefined && change.epoch !== undefined && change.epoch < before.epoch) {
      report("staleWrites", id, `an epoch of ${before.epoch} at least`, String(change.epoch));
    }
    const now: Known = { status: change.status ?? before?.status, epoch: change.epoch ?? before?.epoch };
    known.set(id, now);
    if (collection === "plans" && change.owner !== undefined) ownerOf.set(`${id}/${now.epoch}`, change.owner);
    if (collection !== "steps") continue;
    const planId = id.slice(0, id.indexOf("/"));

    if (change.status !== undefined && SIGNS_OF_A_CALL.has(change.status) && change.isCarried !== true) {
      const open = (dependenciesOf.get(id.replace(/\[\d+\]$/, "")) ?? []).filter(
        (dependency) => known.get(dependency)?.status !== "COMPLETED",
      );
      for (const dependency of open) {
        const status = known.get(dependency)?.status ?? "not there";
        report(
          "staleWrites",
          id,
          `${dependency} COMPLETED before it`,
          `${change.status} while it is ${status}`,
        );
      }
    }
    const container = known.get(id.replace(/\[\d+\]$/, ""));
    if (type === "insert" && now.epoch !== undefined && now.epoch < (container?.epoch ?? 0)) {
      report("staleWrites", id, `an item with epoch ${container?.epoch} at least`, String(now.epoch));
    }
    const { writer } = change;
    const owner = ownerOf.get(`${planId}/${now.epoch}`);
    if (writer !== undefined && owner !== undefined && writer !== owner) {
      report("staleWrites", id, `writes of ${owner}, which has epoch ${now.epoch}`, `one of ${writer}`);
    }
  }
  return violations;
}

function mayFollow(collection: Change["collection"], from: string, to: string): boolean {
  if (from === to) return true;
  if (collection === "requests") {
    return canMove(REQUEST_LIFECYCLE, RequestStatusSchema.parse(from), RequestStatusSchema.parse(to));
  }
  if (collection === "plans") {
    return canMove(PLAN_LIFECYCLE, PlanStatusSchema.parse(from), PlanStatusSchema.parse(to));
  }
  const [before, after] = [StepStatusSchema.parse(from), StepStatusSchema.parse(to)];
  // One write may contain the start and the end of an attempt: the step then passed through RUNNING.
  const hasPassed = canMove(STEP_LIFECYCLE, before, "RUNNING") && canMove(STEP_LIFECYCLE, "RUNNING", after);
  return canMove(STEP_LIFECYCLE, before, after) || hasPassed;
}

function hasEnded(collection: Change["collection"], status: string): boolean {
  if (collection === "requests") return hasRequestEnded(RequestStatusSchema.parse(status));
  if (collection === "plans") return isTerminalPlanStatus(PlanStatusSchema.parse(status));
  return isTerminalStepStatus(StepStatusSchema.parse(status));
}

/** The ids of each step's dependencies, by the id of the step's document. */
function readDependencies(plans: Evidence["plans"]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { _id, plan } of plans) {
    if (plan === null) continue;
    for (const [stepId, dependencies] of planGraph(plan).dependencies) {
      found.set(
        `${_id}/${stepId}`,
        dependencies.map((dependency) => `${_id}/${dependency}`),
      );
    }
  }
  return found;
}
