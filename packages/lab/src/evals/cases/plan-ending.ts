import { type JsonValue, parsePlan } from "@planwright/plan";
import { CaseInvalidError } from "./case-invalid-error.ts";
import type { Ending } from "./eval-case.ts";

/**
 * Steps and outputs of a case, parsed as a plan.
 * @throws {CaseInvalidError} when they are not a plan
 */
export function planEnding(steps: unknown, outputs?: JsonValue): Ending & { type: "plan" } {
  const parsed = parsePlan({ steps, ...(outputs !== undefined && { outputs }) });
  if (!parsed.ok)
    throw new CaseInvalidError({ reason: parsed.diagnostics.map(({ message }) => message).join("; ") });
  return { type: "plan", plan: parsed.plan };
}
