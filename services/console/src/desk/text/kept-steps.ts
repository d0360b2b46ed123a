import { draftSteps } from "./draft-steps.ts";
import { isObject, type JsonRecord } from "./json-record.ts";

/**
 * Ids of steps that a new version would carry over: completed in the old version, and unchanged together with
 * all their dependencies. The API decides; this is a preview for users before they send.
 * @param completed - ids of steps that completed in the old version
 */
export function keptSteps(older: unknown, newer: unknown, completed: ReadonlySet<string>): Set<string> {
  const before = textsById(older);
  const now = textsById(newer);
  const waitsFor = new Map(draftSteps(newer).map(({ id, dependsOn }) => [id, dependsOn]));
  const verdicts = new Map<string, boolean>();
  function isKept(id: string): boolean {
    const known = verdicts.get(id);
    if (known !== undefined) return known;
    // Also ends the search in a cycle.
    verdicts.set(id, false);
    const isSame = completed.has(id) && now.has(id) && before.get(id) === now.get(id);
    const verdict = isSame && (waitsFor.get(id) ?? []).every(isKept);
    verdicts.set(id, verdict);
    return verdict;
  }
  return new Set([...waitsFor.keys()].filter(isKept));
}

function textsById(document: unknown): Map<string, string> {
  const steps = isObject(document) && Array.isArray(document["steps"]) ? document["steps"] : [];
  return new Map(
    steps.filter(isObject).map((step) => [String(step["id"]), JSON.stringify(step, withSortedKeys)] as const),
  );
}

function withSortedKeys(_name: string, value: unknown): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)),
  ) as JsonRecord;
}
