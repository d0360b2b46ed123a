import {
  isCarried,
  type JsonObject,
  type JsonValue,
  type MaybeCarried,
  stringifyExactJson,
} from "@planwright/plan";
import type { Tone } from "../parts/looks.ts";

/** How a step changed from one version to another. */
export type Change = "added" | "removed" | "changed" | "carried" | "same";

/** The part of a version that is compared. */
export interface ComparedVersion {
  steps: readonly ComparedStep[];
}

/** A step of a version. */
export interface ComparedStep extends MaybeCarried {
  id: string;
  dependsOn: readonly string[];
  /** The step in the plan's document. */
  definition: JsonObject;
}

/** A field that differs; an absent one is undefined. */
export interface FieldChange {
  /** Such as `arguments.title`. */
  path: string;
  before: string | undefined;
  after: string | undefined;
}

/** A step in both versions, or in one of them. */
export interface StepDiff {
  id: string;
  change: Change;
  fields: readonly FieldChange[];
  /** The dependencies in both versions. */
  dependsOn: readonly string[];
}

/** Compares two versions: the steps of the later one in its order, then those that were removed. */
export function diffVersions(before: ComparedVersion, after: ComparedVersion): StepDiff[] {
  const earlier = new Map(before.steps.map((step) => [step.id, step]));
  const compared = after.steps.map((step): StepDiff => {
    const former = earlier.get(step.id);
    earlier.delete(step.id);
    const dependsOn = [...new Set([...step.dependsOn, ...(former?.dependsOn ?? [])])];
    const fields = fieldChanges(former?.definition, step.definition);
    return { id: step.id, change: changeOf(former, step, fields), fields, dependsOn };
  });
  const removed = [...earlier.values()].map(
    ({ id, dependsOn, definition }): StepDiff => ({
      id,
      change: "removed",
      fields: fieldChanges(definition, undefined),
      dependsOn,
    }),
  );
  return [...compared, ...removed];
}

function changeOf(
  former: ComparedStep | undefined,
  step: ComparedStep,
  fields: readonly FieldChange[],
): Change {
  if (!former) return "added";
  if (fields.length > 0) return "changed";
  return isCarried(step) ? "carried" : "same";
}

/** The fields that differ, by path. */
export function fieldChanges(before: JsonValue | undefined, after: JsonValue | undefined): FieldChange[] {
  const [was, is] = [leavesOf(before), leavesOf(after)];
  return [...new Set([...was.keys(), ...is.keys()])]
    .filter((path) => was.get(path) !== is.get(path) && !(isEmpty(was.get(path)) && isEmpty(is.get(path))))
    .toSorted()
    .map((path) => ({ path, before: was.get(path), after: is.get(path) }));
}

/** True for an absent or empty value: an empty list means the same as no list. */
function isEmpty(leaf: string | undefined): boolean {
  return leaf === undefined || leaf === "[]" || leaf === "{}" || leaf === "null";
}

/**
 * The leaf values of a document, as JSON, by path. The id is stack out: it identifies the step and never
 * differs.
 */
function leavesOf(value: JsonValue | undefined): Map<string, string> {
  const leaves = new Map<string, string>();
  const stack: [string, JsonValue][] = value === undefined ? [] : [["", value]];
  for (let next = stack.pop(); next; next = stack.pop()) {
    const [path, inner] = next;
    if (path === "id") continue;
    const entries = typeof inner === "object" && inner !== null ? Object.entries(inner) : [];
    if (entries.length === 0) leaves.set(path, stringifyExactJson(inner));
    for (const [name, entry] of entries) {
      const step = Array.isArray(inner) ? `[${name}]` : path === "" ? name : `.${name}`;
      stack.push([`${path}${step}`, entry]);
    }
  }
  return leaves;
}

/** How a change looks. Colour is never the only sign: each change has a sign, a word and a border. */
export const CHANGE_LOOK: Record<Change, { sign: string; word: string; tone: Tone }> = {
  added: { sign: "+", word: "added", tone: "good" },
  removed: { sign: "−", word: "removed", tone: "bad" },
  changed: { sign: "≠", word: "changed", tone: "attention" },
  carried: { sign: "=", word: "carried over", tone: "quiet" },
  same: { sign: "↻", word: "the same, executed again", tone: "active" },
};

/** The order in which changes are listed. */
export const CHANGES: readonly Change[] = ["added", "removed", "changed", "same", "carried"];
