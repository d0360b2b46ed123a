import { countText } from "@planwright/plan";
import type { Diagnostic } from "../api/request-record.ts";
import type { Style } from "../terminal/style.ts";
import { oneLine } from "../terminal/visible-text.ts";

/** How many are printed at most. */
const MAX_DIAGNOSTICS = 50;

/** What was found about a plan, errors first. */
export function diagnosticLines(diagnostics: readonly Diagnostic[], style: Style): string[] {
  const isError = ({ severity }: Diagnostic) => severity === "error";
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
      const place = where === "" ? "" : style("quiet", `  at ${where}`);
      const better = suggestion && !message.includes(suggestion) ? `; try ${oneLine(suggestion, 200)}` : "";
      return `${mark} ${oneLine(message, 400)}${better} (${oneLine(code, 64)})${place}`;
    }),
    ...(more > 0 ? [`(${countText(more, "more diagnostic")}: see --json)`] : []),
  ];
}

/**
 * Warnings for a user who did not look at the plan: a value without a source, a secret that leaves the
 * system.
 */
const WORTH_TELLING = new Set(["ARGUMENT_UNSOURCED", "SECRET_EXPOSED"]);

/** What a user should know whose plan was made and executed at once. */
export function worthTelling(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  return diagnostics.filter(({ code, severity }) => severity === "warning" && WORTH_TELLING.has(code));
}
