import type { Diagnostic, JsonObject } from "@planwright/plan";
import { cleanText, dataText } from "./clean-text.ts";
import { firstFitting } from "./first-fitting.ts";

const MAX_DIAGNOSTICS = 30;

/** Characters that are shown of a diagnostic. The first size with which all diagnostics fit is used. */
const SIZES = [
  { message: 500, detail: 200 },
  { message: 200, detail: 200 },
  { message: 80, detail: 80 },
] as const;
type Size = (typeof SIZES)[number];

/**
 * The diagnostics of the last answer, one JSON object per line, in at most `maxTokens`: step, path, message
 * and nearest valid choices of each. When they do not all fit, messages are shortened first; then the last
 * diagnostics are left out and counted. Pure.
 * @param maxTokens - at least 700, in which one diagnostic always fits
 */
export function repairText(diagnostics: readonly Diagnostic[], maxTokens: number): string {
  return firstFitting(textsOf(diagnostics), maxTokens);
}

/** The longest text first. */
function* textsOf(diagnostics: readonly Diagnostic[]): Generator<string> {
  const shown = diagnostics.slice(0, MAX_DIAGNOSTICS);
  const around = aroundLines(diagnostics.some(({ severity }) => severity === "error"));
  for (const size of SIZES) yield around(linesOf(shown, size, diagnostics.length));
  for (let count = shown.length - 1; count > 0; count -= 1)
    yield around(linesOf(shown.slice(0, count), SIZES[2], diagnostics.length));
}

/** With only warnings the plan could run. */
const aroundLines = (isError: boolean) => (lines: string[]) =>
  `The plan ${isError ? "cannot run" : "can run, but may fail half-way"}. Findings:\n${lines.join("\n")}\nAnswer with the whole corrected plan as one JSON object and nothing else.`;

function linesOf(shown: readonly Diagnostic[], size: Size, total: number): string[] {
  const lines = shown.map((each) => dataText(shownDiagnostic(each, size)));
  return total > shown.length ? [...lines, dataText({ findings: `${total - shown.length} more` })] : lines;
}

function shownDiagnostic({ code, stepId, path, message, suggestion }: Diagnostic, size: Size): JsonObject {
  return {
    code,
    ...(stepId === undefined ? {} : { stepId: cleanText(stepId, 64) }),
    ...(path === undefined ? {} : { path: cleanText(path, size.detail) }),
    message: cleanText(message, size.message),
    ...(suggestion === undefined ? {} : { suggestion: cleanText(suggestion, size.detail) }),
  };
}
