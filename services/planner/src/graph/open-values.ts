import type { Diagnostic, DiagnosticCode } from "@planwright/plan";

/** More questions than this are not asked at once. */
const MAX_QUESTIONS = 3;
/** Values that a model made up. */
const OPEN: ReadonlySet<DiagnosticCode> = new Set(["ARGUMENT_UNSOURCED", "ARGUMENT_PLACEHOLDER"]);

/**
 * What to ask when a model keeps making up values: one question for each value, at most 3. None when anything else
 * is wrong with the plan, which no answer would put right.
 */
export function questionsAboutValues(diagnostics: readonly Diagnostic[]): string[] {
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  if (!errors.every(({ code }) => OPEN.has(code))) return [];
  return [...new Set(errors.map(questionAbout))].slice(0, MAX_QUESTIONS);
}

function questionAbout({ stepId, path = "", message }: Diagnostic): string {
  const field = /(?:^|\.)([^.[\]]+)(?:\[\d+\])*$/.exec(path)?.[1];
  return field && stepId ? `What should "${field}" of ${stepId} be?` : message;
}
