import { type Diagnostic, type DiagnosticCode, type Plan, toolOfStep } from "@planwright/plan";
import type { Gap } from "./to-questions.ts";

/** Errors that a valid value fixes. */
const OPEN: ReadonlySet<DiagnosticCode> = new Set(["ARGUMENT_UNSOURCED", "ARGUMENT_PLACEHOLDER"]);

/**
 * The arguments of a plan that only the user can give, from its diagnostics; undefined when the plan has
 * other errors, which no answer would fix. Pure.
 * @param missing - true when the planner asks for values that it left out: missing required arguments are
 *   gaps too
 */
export function gapsOfPlan(
  plan: Plan,
  diagnostics: readonly Diagnostic[],
  { missing }: { missing: boolean },
): Gap[] | undefined {
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  const isOpen = (code: DiagnosticCode) => OPEN.has(code) || (missing && code === "ARGUMENT_MISSING");
  const gaps = errors.map((error) => (isOpen(error.code) ? gapAt(plan, error) : null));
  const known = gaps.filter((gap) => gap !== null);
  if (known.length < errors.length) return undefined;
  const byPlace = new Map(known.map((gap) => [JSON.stringify([gap.stepId, gap.keys]), gap]));
  return [...byPlace.values()];
}

function gapAt(plan: Plan, { stepId, path = "" }: Diagnostic): Gap | null {
  const [steps, index, ...below] = keysOfPlace(path) ?? [];
  const step = typeof index === "number" && steps === "steps" ? plan.steps[index] : undefined;
  if (!step || step.id !== stepId) return null;
  const inCall = below[0] === "forEach" && below[1] === "do" ? below.slice(2) : below;
  const [first, ...keys] = inCall;
  return first === "arguments" && keys.length > 0 ? { stepId: step.id, tool: toolOfStep(step), keys } : null;
}

/** Maximum length of a path. */
const MAX_LENGTH = 4_000;

/**
 * The keys of a path in the form of diagnostics: `steps[2].arguments["a b"]` is `["steps", 2, "arguments", "a
 * b"]`. Undefined for an invalid path.
 */
export function keysOfPlace(place: string): (string | number)[] | undefined {
  if (place.length > MAX_LENGTH) return undefined;
  const keys: (string | number)[] = [];
  const part = /\.?([A-Za-z0-9_$-]+)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/y;
  while (part.lastIndex < place.length) {
    const found = part.exec(place);
    if (!found) return undefined;
    const [, name, index, quoted] = found;
    if (name !== undefined) keys.push(name);
    else if (index !== undefined) keys.push(Number(index));
    else keys.push(String(JSON.parse(quoted ?? '""')));
  }
  return keys;
}
