import type { Diagnostic } from "../api/request-snapshot.ts";
import type { Style } from "../terminal/style.ts";
import { oneLine } from "../terminal/visible-text.ts";
import { count } from "./format.ts";

/** Findings that are printed at most. */
const MAX_FINDINGS = 50;

/** What was found about a plan, errors first. */
export function findingLines(findings: readonly Diagnostic[], style: Style): string[] {
  const isError = ({ severity }: Diagnostic) => severity === "error";
  const sorted = [...findings.filter(isError), ...findings.filter((finding) => !isError(finding))];
  const more = sorted.length - MAX_FINDINGS;
  return [
    ...sorted.slice(0, MAX_FINDINGS).map((finding) => {
      const mark = isError(finding) ? style("bad", "✖") : style("attention", "!");
      const { message, code, path, stepId, suggestion } = finding;
      const where = path ? oneLine(path, 120) : stepId ? `step ${oneLine(stepId, 64)}` : "";
      const place = where === "" ? "" : style("quiet", `  at ${where}`);
      const better = suggestion && !message.includes(suggestion) ? `; try ${oneLine(suggestion, 200)}` : "";
      return `${mark} ${oneLine(message, 400)}${better} (${oneLine(code, 64)})${place}`;
    }),
    ...(more > 0 ? [`(${count(more, "more finding")}: see --json)`] : []),
  ];
}

/** Warnings for a user who did not look at the plan: what it takes for granted, and what it gives away. */
const WORTH_TELLING = new Set(["ARGUMENT_UNSOURCED", "SECRET_EXPOSED"]);

/** What a user whose plan was made and executed at once should know of it. */
export function worthTelling(findings: readonly Diagnostic[]): Diagnostic[] {
  return findings.filter(({ code, severity }) => severity === "warning" && WORTH_TELLING.has(code));
}
