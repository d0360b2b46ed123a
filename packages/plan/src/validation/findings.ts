import type { Diagnostic, DiagnosticCode } from "../diagnostic.ts";
import { printPlace } from "../reference/path.ts";
import { nearestName } from "./nearest-name.ts";

/** Where a finding belongs: a step (its number is known only at the end), or the document. */
export interface Where {
  /** Anything with the position and id of a step. */
  step?: { readonly index: number; readonly id: string } | undefined;
  /** Keys below the step, or below the document. */
  keys?: readonly (string | number)[] | undefined;
}

/** What to say about it. */
export interface Words {
  message: string;
  severity?: Diagnostic["severity"] | undefined;
  suggestion?: string | undefined;
}

/** Near names are searched this often for one plan: a plan where every name is wrong needs no more hints. */
const MAX_SUGGESTIONS = 200;

/** Gathers what is wrong with one plan. */
export class Findings {
  readonly #found: { code: DiagnosticCode; where: Where; words: Words }[] = [];
  #suggestions = 0;

  add(code: DiagnosticCode, where: Where, words: Words): void {
    this.#found.push({ code, where, words });
  }

  get hasErrors(): boolean {
    return this.#found.some(({ words }) => (words.severity ?? "error") === "error");
  }

  /** The nearest name, while there are searches left. */
  nearest(name: string, candidates: Iterable<string>): string | undefined {
    if (this.#suggestions >= MAX_SUGGESTIONS) return undefined;
    this.#suggestions++;
    return nearestName(name, candidates);
  }

  /** The findings in the order in which they were made, with the places that steps have now. */
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
      };
    });
  }
}

/** The end of a message that offers a near name. */
export function didYouMean(suggestion: string | undefined): string {
  return suggestion === undefined ? "" : `; did you mean ${suggestion}?`;
}

/** A text from outside, cut to what a message can carry. */
export function cut(text: string, length = 80): string {
  return text.length <= length ? text : `${text.slice(0, length)}...`;
}
