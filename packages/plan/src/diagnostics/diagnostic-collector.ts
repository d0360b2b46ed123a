import { printPlace } from "../json/path.ts";
import type { Diagnostic, DiagnosticCode } from "./diagnostic.ts";
import { nearestField, nearestName } from "./nearest-name.ts";

/** The location of a diagnostic: a step (its position is known only at the end), or the document. */
export interface Where {
  /** Position and id of the step. */
  step?: { readonly index: number; readonly id: string } | undefined;
  /** Keys below the step, or below the document. */
  keys?: readonly (string | number)[] | undefined;
}

/** The text of a diagnostic. */
export interface DiagnosticText {
  message: string;
  severity?: Diagnostic["severity"] | undefined;
  suggestion?: string | undefined;
  observedIn?: number | undefined;
}

/** Maximum number of searches for similar names in one plan. */
const MAX_SUGGESTIONS = 200;

/**
 * Maximum number of errors, and of warnings, that are kept for one plan: a hostile plan could cause any
 * number.
 */
const MAX_DIAGNOSTICS = 1_000;

/** Collects the diagnostics of one plan. */
export class DiagnosticCollector {
  readonly #found: { code: DiagnosticCode; where: Where; words: DiagnosticText }[] = [];
  readonly #counts = { error: 0, warning: 0 };
  #suggestions = 0;
  /** The plan must be in canonical form: what other dialects allow is an error. */
  readonly isCanonical: boolean;

  constructor({ isCanonical = false }: { isCanonical?: boolean | undefined } = {}) {
    this.isCanonical = isCanonical;
  }

  add(code: DiagnosticCode, where: Where, words: DiagnosticText): void {
    const severity = words.severity ?? "error";
    if (this.#counts[severity] >= MAX_DIAGNOSTICS) return;
    this.#counts[severity]++;
    this.#found.push({ code, where, words });
  }

  /** The nearest name; undefined once all searches are used. */
  nearest(name: string, candidates: Iterable<string>): string | undefined {
    return this.#isSearchLeft() ? nearestName(name, candidates) : undefined;
  }

  /** The nearest field of an output; undefined once all searches are used. */
  nearestField(name: string, candidates: Iterable<string>): string | undefined {
    return this.#isSearchLeft() ? nearestField(name, candidates) : undefined;
  }

  #isSearchLeft(): boolean {
    if (this.#suggestions >= MAX_SUGGESTIONS) return false;
    this.#suggestions++;
    return true;
  }

  /** The diagnostics in the order of adding, with the current positions of steps. */
  toDiagnostics(): Diagnostic[] {
    return this.#found.map(({ code, where, words }) => {
      const { step, keys = [] } = where;
      const path = printPlace(step ? ["steps", step.index, ...keys] : keys);
      return {
        code,
        severity: words.severity ?? "error",
        ...(step && { stepId: step.id }),
        ...(path !== "" && { path }),
        message: words.message,
        ...(words.suggestion !== undefined && { suggestion: words.suggestion }),
        ...(words.observedIn !== undefined && { observedIn: words.observedIn }),
      };
    });
  }
}

/** The end of a message that suggests a similar name. */
export function didYouMean(suggestion: string | undefined): string {
  return suggestion === undefined ? "" : `; did you mean ${suggestion}?`;
}

/** An external text, cut to a length that fits a message. */
export function cut(text: string, length = 80): string {
  return text.length <= length ? text : `${text.slice(0, length)}...`;
}
