import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import type { Plan } from "../document/plan.ts";
import { type ReadPlanOptions, readPlan } from "./read-plan.ts";

/**
 * Options of {@link parsePlan}: `tools` (also validates), `policy` (overrides the document's), `limits` (a
 * document may only tighten them).
 */
export type ParsePlanOptions = ReadPlanOptions;

/** A plan in canonical form with its warnings, or all errors of the input. */
export type ParsePlanResult =
  | { ok: true; plan: Plan; diagnostics: Diagnostic[] }
  | { ok: false; diagnostics: Diagnostic[] };

/**
 * Reads a plan in any dialect, from a value or from JSON text, into the canonical form: arguments are
 * objects, references are `<<step.path>>` with step ids, dependencies are step ids, policy and limits are
 * complete. The input is not changed and the plan shares nothing with it. Steps without an id are named after
 * their tool. Takes linear time and never throws, for any input.
 */
export function parsePlan(input: unknown, options: ParsePlanOptions = {}): ParsePlanResult {
  const { plan, diagnostics } = readPlan(input, options);
  const isRefused = diagnostics.some(({ severity }) => severity === "error");
  return plan && !isRefused ? { ok: true, plan, diagnostics } : { ok: false, diagnostics };
}
