import { type JsonValue, parsePlan } from "@planwright/plan";
import { CaseInvalidError } from "./case-invalid-error.ts";
import type { Ending } from "./eval-case.ts";

/**
 * Steps and outputs as a case gives them, in the one form.
 * @throws {CaseInvalidError} when they are no plan
 */
export function planEnding(steps: unknown, outputs?: JsonValue): Ending & { type: "plan" } {
  const read = parsePlan({ steps, ...(outputs !== undefined && { outputs }) });
  if (!read.ok)
    throw new CaseInvalidError({ reason: read.diagnostics.map(({ message }) => message).join("; ") });
  return { type: "plan", plan: read.plan };
}
