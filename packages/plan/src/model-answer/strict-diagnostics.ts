import type { Diagnostic, DiagnosticCode } from "../diagnostics/diagnostic.ts";
import type { Policy } from "../policy/policy.ts";

/**
 * Diagnostics that are errors in a model's plan and warnings in the plan of any other author. A model knows
 * only what the schemas of a tool declare, so it has invented any other argument or output field, and one
 * repair is cheaper than a plan that fails half-way. The same applies to a complete object or list for a text
 * argument, when only a part of it, or a loop, fits.
 */
const INVENTED: ReadonlySet<DiagnosticCode> = new Set(["ARGUMENT_UNDECLARED", "REFERENCE_FIELD_UNKNOWN"]);
/**
 * Codes for a value of which only a part fits. The suggestion is that part: a reference, or the text inside
 * `{"value": "T-100"}`.
 */
const PARTLY_FITTING: ReadonlySet<DiagnosticCode> = new Set(["REFERENCE_TYPE", "ARGUMENT_TYPE"]);

/**
 * The diagnostics with their severity for a plan of a model. A policy that accepts missing fields accepts
 * undeclared fields too. A field that earlier outputs did not have stays a warning, because it may exist the
 * next time.
 */
export function strictDiagnostics(diagnostics: readonly Diagnostic[], policy: Policy): Diagnostic[] {
  return diagnostics.map((each) => {
    const isBorne =
      each.observedIn !== undefined ||
      (each.code === "REFERENCE_FIELD_UNKNOWN" && policy.onMissingField !== "error");
    const isBetterKnown = PARTLY_FITTING.has(each.code) && each.suggestion !== undefined;
    return (isBetterKnown || INVENTED.has(each.code)) && !isBorne ? { ...each, severity: "error" } : each;
  });
}
