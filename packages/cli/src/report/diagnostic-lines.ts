import type { RunDiagnostic } from "@planwright/client";
import { countText } from "@planwright/plan";
import type { Style } from "../terminal/style.ts";
import { oneLine } from "../terminal/visible-text.ts";

/** Most diagnostics that are printed. */
const MAX_DIAGNOSTICS = 50;

/** The diagnostics of a plan, errors first. */
export function diagnosticLines(diagnostics: readonly RunDiagnostic[], style: Style): string[] {
  const isError = ({ severity }: RunDiagnostic) => severity === "error";
  const sorted = [
    ...diagnostics.filter(isError),
    ...diagnostics.filter((diagnostic) => !isError(diagnostic)),
  ];
  const more = sorted.length - MAX_DIAGNOSTICS;
  return [
    ...sorted.slice(0, MAX_DIAGNOSTICS).map((diagnostic) => {
      const mark = isError(diagnostic) ? style("bad", "✖") : style("attention", "!");
      const { message, code, path, stepId, suggestion } = diagnostic;
      const where = path ? oneLine(path, 120) : stepId ? `step ${oneLine(stepId, 64)}` : "";
      const location = where === "" ? "" : style("quiet", `  at ${where}`);
      const advice = suggestion && !message.includes(suggestion) ? `; try ${oneLine(suggestion, 200)}` : "";
      return `${mark} ${oneLine(message, 400)}${advice} (${oneLine(code, 64)})${location}`;
    }),
    ...(more > 0 ? [`(${countText(more, "more diagnostic")}: see --json)`] : []),
  ];
}

/** Warnings that matter after the execution: a value without a source, a secret that leaves the system. */
const IMPORTANT_WARNINGS = new Set(["ARGUMENT_UNSOURCED", "SECRET_EXPOSED"]);

/** The warnings for a user whose plan was executed at once, without a look at it. */
export function importantWarnings(diagnostics: readonly RunDiagnostic[]): RunDiagnostic[] {
  return diagnostics.filter(({ code, severity }) => severity === "warning" && IMPORTANT_WARNINGS.has(code));
}
