/**
 * The calls of later versions, derived from the versions of a plan and the log of the tools.
 *
 * 1. A client asked for each version, and what it asked made one version, however often it was sent.
 * 2. A rerun carries over a completed unit without a call. Exceptions: the step that the client named, its
 *    dependents, and steps that read a list with failed items.
 * 3. Every item that had not completed is called again when its list ended. Exceptions: a lookup found the
 *    result of an earlier call; its server was unreachable; its call was never answered and it is in doubt, as the
 *    executor or the tool server may have been killed before the tool logged that call; or an earlier version had
 *    made the call, and it was not to be repeated.
 * 4. A call with an effect that completed in any version is made by no later one, under any step id, unless the
 *    client named its step.
 * 5. A step waits for an approval, or is refused as a repeat, only when an earlier version asked for an approval in
 *    its plan, or when an earlier call of it acted or may have acted and the client did not name it. No chaos tool
 *    asks for approvals itself.
 */
import { isDeepStrictEqual } from "node:util";
import { isJsonObject, type JsonObject, JsonValueSchema, type Step } from "@planwright/plan";
import type { Evidence, FinalStep, Violation } from "../evidence/evidence.ts";
import { CHAOS_TOOLS } from "../plans/chaos-plan.ts";
import { listsOf } from "./check-lists.ts";
import { acceptedLabels, type PlanVersion, versionsByRequest } from "./plan-versions.ts";
import { callsByLabel, type UnitCall } from "./tool-calls.ts";

interface Facts {
  calls: ReadonlyMap<string, readonly UnitCall[]>;
  /** References of results that lookups found. */
  found: ReadonlySet<unknown>;
  /** The arguments of each effect, by its number. */
  effects: ReadonlyMap<number, JsonObject>;
}

/** Checks every version after the first. Pure. */
export function checkReruns(evidence: Evidence): Violation[] {
  const facts = {
    calls: callsByLabel(evidence.calls),
    found: new Set(evidence.ledger.map((effect) => effect.arguments["reference"])),
    effects: new Map(evidence.ledger.map((effect) => [effect.effect, effect.arguments])),
  };
  return [...versionsByRequest(evidence).values()].flatMap((versions) =>
    versions.flatMap((next, place) => {
      const before = versions[place - 1];
      if (before === undefined) return checkNeeds(versions, place, evidence);
      if (next.asked === undefined)
        return [duplicated(next.plan._id, "a version that was asked for", "one that was not")];
      return [
        ...checkVersion(versions, place, facts),
        ...checkRepeats(versions, place, facts),
        ...checkNeeds(versions, place, evidence),
      ];
    }),
  );
}

function checkVersion(versions: readonly PlanVersion[], place: number, facts: Facts): Violation[] {
  const [before, next] = [versions[place - 1], versions[place]];
  if (before === undefined || next === undefined) return [];
  const after = new Map(next.units.map((unit) => [unit.key, unit]));
  const mayRepeat = repeatedBy(versions, place);
  const isRerun = next.asked?.kind === "rerun" || next.asked?.kind === "retry";
  const kept = before.units
    .filter((unit) => isRerun && unit.status === "COMPLETED" && !mayRepeat(before.labelOf(unit.key)))
    .flatMap((unit) => checkKept(unit, after.get(unit.key), next, facts));
  const isFound = (key: string): boolean =>
    after.get(key)?.status === "COMPLETED" && facts.found.has(next.labelOf(key));
  const notCalled = checkCalledAgain(versions.slice(0, place), next, facts).filter(
    (key) => !isFound(key) && !mayBeMissingInLog(after.get(key)),
  );
  return [...kept, ...notCalled.map((key) => toLost(`${next.plan._id}/${key}`, after.get(key)))];
}

/** The steps of the version at this place that wait for an approval, or are refused, though nothing demands it. */
function checkNeeds(
  versions: readonly PlanVersion[],
  place: number,
  { changes }: Pick<Evidence, "changes">,
): Violation[] {
  const next = versions[place];
  if (next === undefined) return [];
  const earlier = versions.slice(0, place);
  const accepted = acceptedLabels(versions, place);
  const asked = new Set(changes.flatMap(({ id, status }) => (status === "WAITING_APPROVAL" ? [id] : [])));
  const isDemanded = (key: string, stepId: string): boolean =>
    earlier.some((version) => {
      const isSame = (of: "key" | "stepId", other: string): boolean =>
        version.labelOf(other) === next.labelOf(of === "key" ? key : stepId);
      const inPlan = (version.plan.plan?.steps ?? []).filter(({ id }) => isSame("stepId", id));
      const mayHaveActed = version.units.some(
        (unit) =>
          CHAOS_TOOLS[unit.tool]?.isCounted === true &&
          // A step waits for the approval of all its items; each item is refused alone.
          (isSame("key", unit.key) || (key === stepId && isSame("stepId", unit.stepId))) &&
          unit.attempts.length > 0 &&
          unit.effect !== "none",
      );
      return inPlan.some(({ approval }) => approval === true) || mayHaveActed;
    });
  return next.units.flatMap(({ key, stepId, error }): Violation[] => {
    const id = `${next.plan._id}/${key}`;
    const isRefused = error?.code === "REPEAT_NOT_ACCEPTED";
    if (!isRefused && !asked.has(id)) return [];
    if (isDemanded(key, stepId) && !accepted.has(next.labelOf(stepId))) return [];
    const found = isRefused ? "REPEAT_NOT_ACCEPTED" : "WAITING_APPROVAL";
    return [{ kind: "unfinished", id, expected: "a call, since nothing demands an approval", found }];
  });
}

/** Whether a unit may have no call, or an attempt whose call the tools did not log. */
function mayBeMissingInLog(unit: FinalStep | undefined): boolean {
  if (unit?.status === "FAILED")
    return unit.attempts.length > 0 || unit.error?.code === "REPEAT_NOT_ACCEPTED";
  if (unit?.status === "COMPLETED") return unit.carriedFrom !== null;
  const isUnanswered = ({ outcome }: FinalStep["attempts"][number]) =>
    outcome === null || outcome === "unknown";
  return unit?.status === "IN_DOUBT" && unit.attempts.some(isUnanswered);
}

/** Whether the version at this place may call a unit again that completed before, by its label. */
function repeatedBy(versions: readonly PlanVersion[], place: number): (label: string) => boolean {
  const [before, asked] = [versions[place - 1], versions[place]?.asked];
  const accepted = acceptedLabels(versions, place);
  if (before === undefined || (asked?.kind !== "rerun" && asked?.kind !== "retry"))
    return (label) => accepted.has(label);
  const { from } = asked;
  const steps = before.plan.plan?.steps ?? [];
  const partly = new Set(
    listsOf(before)
      .filter(
        ({ items, planned }) => items.filter(({ status }) => status === "COMPLETED").length < planned.length,
      )
      .map(({ step }): string => step.id),
  );
  const named = from === null ? new Set<string>() : dependentsOf(steps, from);
  const readers = new Set(
    steps.filter((step) => [...partly].some((list) => reads(step, list))).map(({ id }): string => id),
  );
  return (label) => {
    const unit = before.units.find(({ key }) => key === before.keyOf(label));
    if (unit === undefined || accepted.has(label)) return accepted.has(label);
    const { stepId, item } = unit;
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
  { plan, labelOf }: PlanVersion,
  { calls }: Facts,
): Violation[] {
  const id = `${plan._id}/${unit.key}`;
  const own = calls.get(labelOf(unit.key)) ?? [];
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

/** The calls of the version at this place that repeat a call that completed in an earlier one. */
function checkRepeats(versions: readonly PlanVersion[], place: number, facts: Facts): Violation[] {
  const next = versions[place];
  if (next === undefined) return [];
  return versions.slice(0, place).flatMap((version, earlier) => {
    const mayRepeat = versions
      .slice(earlier + 1, place + 1)
      .map((_, index) => repeatedBy(versions, earlier + 1 + index));
    return version.units.flatMap((unit): Violation[] => {
      const done = unit.carriedFrom === null ? argumentsDone(unit, facts) : undefined;
      const label = version.labelOf(unit.key);
      if (done === undefined || mayRepeat.some((may) => may(label))) return [];
      const again = (facts.calls.get(label) ?? []).filter(
        (call) => call.planId === next.plan._id && isDeepStrictEqual(call.arguments, done),
      );
      if (again.length === 0) return [];
      const expected = `no call, since ${version.plan._id} had completed it as ${unit.key}`;
      return [
        duplicated(`${next.plan._id}/${next.keyOf(label) ?? label}`, expected, `${again.length} calls`),
      ];
    });
  });
}

/** The arguments of the call that completed a unit; undefined when there is none, or when it may be repeated. */
function argumentsDone(
  { status, tool, output: recorded }: FinalStep,
  { effects }: Facts,
): JsonObject | undefined {
  if (status !== "COMPLETED" || CHAOS_TOOLS[tool]?.toolClass === "R") return undefined;
  const output = JsonValueSchema.safeParse(recorded).data;
  const effect = isJsonObject(output) ? output["effect"] : undefined;
  return typeof effect === "number" ? effects.get(effect) : undefined;
}

/** Keys of items that should have been called again and were not. */
function checkCalledAgain(earlier: readonly PlanVersion[], next: PlanVersion, facts: Facts): string[] {
  const completed = new Set(
    earlier.flatMap(({ units, labelOf }) =>
      units.filter(({ status }) => status === "COMPLETED").map(({ key }) => labelOf(key)),
    ),
  );
  return listsOf(next)
    .filter(({ unit, stops }) => unit.status === "COMPLETED" || (unit.status === "FAILED" && !stops))
    .filter(({ unit }) => unit.carriedFrom === null)
    .flatMap(({ step, planned }) => planned.map((item) => `${step.id}[${item}]`))
    .filter((key) => !completed.has(next.labelOf(key)))
    .filter((key) => !wasCalled(next, key, facts));
}

/** The violation says how the unit ended, since that tells where its call was lost. */
function toLost(id: string, unit: FinalStep | undefined): Violation {
  const outcomes = unit?.attempts.map(({ outcome }) => outcome ?? "not answered").join(", ");
  const end = unit === undefined ? "no record" : `it is ${unit.status}, attempts: ${outcomes || "none"}`;
  return lost(id, "a call, since it had not completed before", `none; ${end}`);
}

/** True for a call under the key of this version, or of an earlier one whose call may have acted. */
function wasCalled({ plan, labelOf }: PlanVersion, key: string, { calls }: Facts): boolean {
  const own = calls.get(labelOf(key)) ?? [];
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
