import { cut, type DiagnosticCollector } from "../diagnostics/diagnostic-collector.ts";
import type { DraftStep } from "../document/draft-step.ts";
import { shortName } from "../tools/name-tools.ts";
import { nextFree, toStepId } from "./step-ids.ts";

/**
 * Replaces invalid step ids (`1`, `step 1`, `functions.find:0`) by the nearest valid id, each with a warning
 * that names both. Deterministic. A new id never equals the id of another step or a tool in the plan. Steps
 * with the same id still share one, so that the duplicate is reported.
 */
export function renameIds(steps: readonly DraftStep[], diagnostics: DiagnosticCollector): void {
  const renamed = new Map<string, string>();
  const numbers = new Map<string, number>();
  const taken = namesTaken(steps);
  for (const step of steps) {
    const written = step.writtenId;
    if (written === undefined) continue;
    let id = renamed.get(written);
    if (id === undefined) {
      const base = toStepId(written);
      id = taken.has(base) ? nextFree(base.slice(0, MAX_BASE), taken, numbers) : base;
      renamed.set(written, id);
      taken.add(id);
    }
    step.id = id;
    const message = `step ${step.index}: id ${cut(JSON.stringify(written))} is now ${id}, everywhere it is used; an id is a letter and up to 63 letters, digits, _ or -`;
    diagnostics.add(
      "STEP_ID_RENAMED",
      { step, keys: ["id"] },
      { message, severity: "warning", suggestion: id },
    );
  }
}

/** Leaves space for a number. */
const MAX_BASE = 56;

function namesTaken(steps: readonly DraftStep[]): Set<string> {
  const taken = new Set<string>();
  for (const { id, tool, forEach, hasOwnId, writtenId } of steps) {
    if (hasOwnId && writtenId === undefined) taken.add(id);
    taken.add(tool).add(shortName(tool));
    if (forEach) taken.add(forEach.as).add("index");
  }
  return taken;
}

/** The new ids of steps, by their written ids. */
export function renamedIds(steps: readonly DraftStep[]): ReadonlyMap<string, string> {
  return new Map(steps.flatMap(({ id, writtenId }) => (writtenId === undefined ? [] : [[writtenId, id]])));
}
