import { parsePlan } from "@planwright/plan";
import { CaseInvalidError } from "./case-invalid-error.ts";
import type { Ending } from "./eval-case.ts";

/** Steps as a case gives them, in the one form. @throws {CaseInvalidError} when they are no plan */
export function planEnding(steps: unknown): Ending {
  const read = parsePlan({ steps });
  if (!read.ok)
    throw new CaseInvalidError({ reason: read.diagnostics.map(({ message }) => message).join("; ") });
  return { type: "plan", plan: read.plan };
}
