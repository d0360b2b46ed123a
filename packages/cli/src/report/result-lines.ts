import { countText, isJsonObject, type JsonValue } from "@planwright/plan";
import type { RequestRecord } from "../operations.ts";
import type { Style } from "../terminal/output.ts";
import { oneLine, visibleText } from "../terminal/visible-text.ts";
import { diagnosisLines, diagnosticLines, importantWarnings, printedDiagnosis } from "./diagnosis.ts";
import { exitCodeOf } from "./exit-code.ts";
import { type CommandLine, inlineJson, largeOutput, problem } from "./format.ts";

/** Most outputs that are printed. */
const MAX_OUTPUTS = 50;

/** The lines to print after following a request: the outputs, or the cause and what to do. Pure. */
export function resultLines(request: RequestRecord, command: CommandLine, style: Style): string[] {
  const outputs = [...outputLines(request, command, style), ...answerLines(request, style)];
  if (request.status === "COMPLETED") {
    return [...outputs, ...diagnosticLines(importantWarnings(request.diagnostics), style)];
  }
  const diagnosis = printedDiagnosis(request.diagnosis, command);
  const more = command("debug", request.requestId);
  const diagnostics = request.plan === null || request.plan.status === "INVALID" ? request.diagnostics : [];
  return [
    ...(request.status === "PARTIAL" ? [...outputs, ""] : []),
    ...diagnosisLines(diagnosis, style),
    ...diagnosticLines(diagnostics, style).map((line) => `        ${line}`),
    ...(exitCodeOf(request) === 1 ? [style("quiet", `        Everything about it: ${more}`)] : []),
  ];
}

function outputLines({ plan }: RequestRecord, command: CommandLine, style: Style): string[] {
  const { outputs = null, outputReferences = [] } = plan ?? {};
  if (!isJsonObject(outputs)) return [];
  const references = new Map(outputReferences.map((reference) => [reference.name, reference]));
  const shown = (name: string, value: JsonValue): string => {
    const reference = references.get(name);
    return reference ? largeOutput(reference, command) : inlineJson(value, 1_000);
  };
  const entries = Object.entries(outputs);
  const width = Math.min(30, Math.max(0, ...entries.map(([name]) => name.length)));
  const more = entries.length - MAX_OUTPUTS;
  return [
    style("strong", entries.length === 0 ? "No outputs" : "Outputs"),
    ...entries
      .slice(0, MAX_OUTPUTS)
      .map(([name, value]) => `  ${oneLine(name, 64).padEnd(width)}  ${shown(name, value)}`),
    ...(more > 0 ? [`  (${countText(more, "more output")}: see --json)`] : []),
  ];
}

/**
 * The results in words, or why there are none; empty if the caller did not ask for them or a model still
 * writes them. Pure.
 */
export function answerLines(
  { answer, answerError }: Pick<RequestRecord, "answer" | "answerError">,
  style: Style,
): string[] {
  if (answer !== null) {
    const lines = visibleText(answer).split("\n");
    return ["", style("strong", "Answer"), ...lines.map((line) => `  ${line}`)];
  }
  if (answerError === null) return [];
  return ["", `${style("strong", "No answer")}  ${style("attention", problem(answerError))}`];
}
