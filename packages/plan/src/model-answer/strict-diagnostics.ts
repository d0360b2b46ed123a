import type { Diagnostic, DiagnosticCode } from "../diagnostics/diagnostic.ts";
import type { Policy } from "../policy/policy.ts";

/**
 * DiagnosticCollector that are errors in a model's plan, although other authors may write such a plan with a warning: what a model knows of a tool is what the
 * schemas declare, so an argument or an output field beyond them is made up, and one repair is cheaper than a plan that fails half-way.
 * So is a whole object or list in the place of a text where a part of it, or a loop, is what fits.
 */
const MADE_UP: ReadonlySet<DiagnosticCode> = new Set(["ARGUMENT_UNDECLARED", "REFERENCE_FIELD_UNKNOWN"]);
/** Of a value where a part of it is what fits, which the suggestion names: a reference, or the text inside of `{"value": "T-100"}`. */
const OUTSIDE: ReadonlySet<DiagnosticCode> = new Set(["REFERENCE_TYPE", "ARGUMENT_TYPE"]);

/**
 * The diagnostics with their severity for a plan of a model. A policy that puts up with missing fields puts up with undeclared ones too, and
 * what was only never seen may be there the next time.
 */
export function strictDiagnostics(diagnostics: readonly Diagnostic[], policy: Policy): Diagnostic[] {
  return diagnostics.map((each) => {
    const isBorne =
      each.observedIn !== undefined ||
      (each.code === "REFERENCE_FIELD_UNKNOWN" && policy.onMissingField !== "error");
    const isBetterKnown = OUTSIDE.has(each.code) && each.suggestion !== undefined;
    return (isBetterKnown || MADE_UP.has(each.code)) && !isBorne ? { ...each, severity: "error" } : each;
  });
}
