import type { Diagnosis, RunDiagnostic } from "@planwright/client";
import { countText, isJsonObject, type JsonValue } from "@planwright/plan";
import type { RequestRecord } from "../operations.ts";
import { oneLine, type Style, type TextTone, visibleText } from "../terminal.ts";
import { exitCodeOf } from "./exit-code.ts";
import { type CommandLine, inlineJson, largeOutput, problem } from "./format.ts";

/** An action: a sentence, with the command to type if there is one. */
export interface NextStep {
  instruction: string;
  command?: string | undefined;
}

/** The diagnosis of a request as it is printed; an operator reads it first. */
interface PrintedDiagnosis {
  tone: TextTone;
  /** One line that names the cause. */
  cause: string;
  /** The reasons, at most three lines. */
  why: readonly string[];
  /** What to do, best first, at most two. */
  next: readonly NextStep[];
}

const TONES: Readonly<Record<string, TextTone>> = {
  NONE: "good",
  PROGRESS: "busy",
  ATTENTION: "attention",
  FAILURE: "bad",
};

/** The API's diagnosis with commands that can be typed. Pure. */
export function printedDiagnosis(
  { cause, reasons, next }: Diagnosis,
  command: CommandLine,
): PrintedDiagnosis {
  return {
    tone: TONES[cause.severity] ?? "attention",
    cause: oneLine(cause.message, 400),
    why: reasons.slice(0, 3).map((reason) => oneLine(reason, 400)),
    next: next.slice(0, 2).map(({ description, command: words }) => ({
      instruction: oneLine(description),
      command: words.length > 0 ? command(...words) : undefined,
    })),
  };
}

/** Cause, reasons and what to do: eight lines at most, where each action is one sentence with its command. */
export function diagnosisLines({ tone, cause, why, next }: PrintedDiagnosis, style: Style): string[] {
  return [
    `${style("strong", "Cause")}   ${style(tone, cause)}`,
    ...labelled("Why", why, style),
    ...labelled(
      "Next",
      next.flatMap(({ instruction, command }) => [
        instruction,
        ...(command === undefined ? [] : [`  ${style("busy", command)}`]),
      ]),
      style,
    ),
  ];
}

function labelled(label: string, lines: readonly string[], style: Style): string[] {
  return lines.map((line, index) =>
    index === 0 ? `${style("strong", label)}${" ".repeat(8 - label.length)}${line}` : `        ${line}`,
  );
}

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
function importantWarnings(diagnostics: readonly RunDiagnostic[]): RunDiagnostic[] {
  return diagnostics.filter(({ code, severity }) => severity === "warning" && IMPORTANT_WARNINGS.has(code));
}

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
