/**
 * The calls of reruns, derived from the versions of a plan and the log of the tools.
 *
 * 1. A client asked for each version, and what it asked made one version, however often it was sent.
 * 2. A completed unit is carried over without a call. Exceptions: the step that the client named, its
 *    dependents, and steps that read a list with failed items.
 * 3. Every item that had not completed is called again when its list ended. Exceptions: a lookup found the
 *    result of an earlier call; its server was unreachable; or its call was never answered and it is in doubt.
 *    The executor or the tool server may have been killed before the tool logged that call.
 */
import { isDeepStrictEqual } from "node:util";
import type { Step } from "@planwright/plan";
import type { AskedRerun, Evidence, FinalStep, Violation } from "../evidence/evidence.ts";
import { labelOf } from "../plans/chaos-plan.ts";
import { listsOf } from "./check-lists.ts";
import { type PlanVersion, versionsByRequest } from "./plan-versions.ts";
import { callsByLabel, type UnitCall } from "./tool-calls.ts";

type Calls = ReadonlyMap<string, readonly UnitCall[]>;

/** Checks every version after the first. Pure. */
export function checkReruns(evidence: Evidence): Violation[] {
  const calls = callsByLabel(evidence.calls);
  const found = new Set(evidence.ledger.map((effect) => effect.arguments["reference"]));
  return [...versionsByRequest(evidence).values()].flatMap((versions) =>
    versions.flatMap((next, place) => {
      const before = versions[place - 1];
      return before === undefined ? [] : checkRerun(before, next, evidence.reruns, { calls, found });
    }),
  );
}

function checkRerun(
  before: PlanVersion,
  next: PlanVersion,
  reruns: readonly AskedRerun[],
  { calls, found }: { calls: Calls /** Results that lookups found. */; found: ReadonlySet<unknown> },
): Violation[] {
  const asked = reruns.find(({ planId }) => planId === before.plan._id);
  const id = next.plan._id;
  if (asked === undefined) return [duplicated(id, "a version that was asked for", "one that was not")];
  const mayRepeat = repeated(before, asked.from);
  const after = new Map(next.units.map((unit) => [unit.key, unit]));
  const kept = before.units
    .filter(({ stepId, item, status }) => status === "COMPLETED" && !mayRepeat(stepId, item))
    .flatMap((unit) => checkKept(unit, after.get(unit.key), next, calls));
  const isFound = (key: string): boolean =>
    next.index !== undefined && after.get(key)?.status === "COMPLETED" && found.has(labelOf(next.index, key));
  const notCalled = checkCalledAgain(before, next, calls).filter(
    (key) => !isFound(key) && !mayBeMissingInLog(after.get(key)),
  );
  return [...kept, ...notCalled.map((key) => toLost(`${id}/${key}`, after.get(key)))];
}

/** Whether a unit may have an attempt whose call the tools did not log. */
function mayBeMissingInLog(unit: FinalStep | undefined): boolean {
  if (unit?.status === "FAILED") return unit.attempts.length > 0;
  const isUnanswered = ({ outcome }: FinalStep["attempts"][number]) =>
    outcome === null || outcome === "unknown";
  return unit?.status === "IN_DOUBT" && unit.attempts.some(isUnanswered);
}

/** Whether the rerun may call a completed unit again. */
function repeated(
  before: PlanVersion,
  from: string | null,
): (stepId: string, item: number | null) => boolean {
  const steps = before.plan.plan?.steps ?? [];
  const partly = new Set(
    listsOf(before)
      .filter(({ items, planned }) => items.filter(({ status }) => status === "COMPLETED").length < planned)
      .map(({ step }): string => step.id),
  );
  const named = from === null ? new Set<string>() : dependentsOf(steps, from);
  const readers = new Set(
    steps.filter((step) => [...partly].some((list) => reads(step, list))).map(({ id }): string => id),
  );
  return (stepId, item) => {
    if (partly.has(stepId)) return item === null || (named.has(stepId) && stepId !== from);
    return named.has(stepId) || stepId === from || readers.has(stepId);
  };
}

/** Steps that depend on this one, directly or through others. */
function dependentsOf(steps: readonly Step[], from: string): Set<string> {
  const found = new Set<string>();
  const path = [from];
  for (let id = path.pop(); id !== undefined; id = path.pop()) {
    for (const step of steps) {
      if (found.has(step.id) || !step.dependsOn.some((dependency) => dependency === id)) continue;
      found.add(step.id);
      path.push(step.id);
    }
  }
  return found;
}

function reads(step: Step, list: string): boolean {
  return JSON.stringify(step).includes(`<<${list}.`);
}

function checkKept(
  unit: FinalStep,
  after: FinalStep | undefined,
  { index, plan }: PlanVersion,
  calls: Calls,
): Violation[] {
  const id = `${plan._id}/${unit.key}`;
  const own = index === undefined ? [] : (calls.get(labelOf(index, unit.key)) ?? []);
  const again = own.filter(({ planId }) => planId === plan._id).length;
  const isSame = after?.status === "COMPLETED" && isDeepStrictEqual(after.output, unit.output);
  return [
    ...(again > 0
      ? [duplicated(id, "no call, since it had completed before the rerun", `${again} calls`)]
      : []),
    ...(isSame && after.carriedFrom !== null
      ? []
      : [lost(id, "carried over as it was", after === undefined ? "nothing" : JSON.stringify(after))]),
  ];
}

/** Keys of items that should have been called again and were not. */
function checkCalledAgain(before: PlanVersion, next: PlanVersion, calls: Calls): string[] {
  const completed = new Set(
    before.units.filter(({ status }) => status === "COMPLETED").map(({ key }) => key),
  );
  return listsOf(next)
    .filter(({ unit, stops }) => unit.status === "COMPLETED" || (unit.status === "FAILED" && !stops))
    .filter(({ unit }) => unit.carriedFrom === null)
    .flatMap(({ step, planned }) => Array.from({ length: planned }, (_, item) => `${step.id}[${item}]`))
    .filter((key) => !completed.has(key))
    .filter((key) => !wasCalled(next, key, calls));
}

/** The violation says how the unit ended, since that tells where its call was lost. */
function toLost(id: string, unit: FinalStep | undefined): Violation {
  const outcomes = unit?.attempts.map(({ outcome }) => outcome ?? "not answered").join(", ");
  const end = unit === undefined ? "no record" : `it is ${unit.status}, attempts: ${outcomes || "none"}`;
  return lost(id, "a call, since it had not completed before", `none; ${end}`);
}

/** True for a call under the key of this version, or of an earlier one whose call may have acted. */
function wasCalled({ index, plan }: PlanVersion, key: string, calls: Calls): boolean {
  const own = index === undefined ? [] : (calls.get(labelOf(index, key)) ?? []);
  return own.some(({ planId, at }) => planId === plan._id || at >= plan.createdAt.getTime());
}

const duplicated = (id: string, expected: string, found: string): Violation => ({
  kind: "duplicated",
  id,
  expected,
  found,
});
const lost = (id: string, expected: string, found: string): Violation => ({
  kind: "lost",
  id,
  expected,
  found,
});
