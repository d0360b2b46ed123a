import { ApiRefusedError, explainError } from "@planwright/client";
import { CodedError } from "@planwright/plan";
import type { NextStep } from "../report/diagnosis.ts";
import { diagnosticLines } from "../report/diagnostic-lines.ts";
import { type ExitCode, exitCodeOfError } from "../report/exit-code.ts";
import type { Output } from "../terminal/output.ts";
import { oneLine } from "../terminal/visible-text.ts";

/** How an error is told. */
export interface TellErrorOptions {
  output: Output;
  isJson: boolean;
  /** What can be done now. */
  next?: readonly NextStep[];
}

/**
 * Tells an error and what to do: as JSON on standard output, otherwise on standard error.
 * @throws what was not expected
 */
export function tellError(error: unknown, { output, isJson, next = [] }: TellErrorOptions): ExitCode {
  if (!(error instanceof CodedError)) throw error;
  const exitCode = exitCodeOfError(error);
  if (isJson) {
    output.printJson({ event: "error", exitCode, error: jsonOf(error) });
    return exitCode;
  }
  const { style } = output;
  output.note([
    `${style("bad", "✖")} ${oneLine(error.message, 1_000)}${error instanceof ApiRefusedError ? ` (${error.facts.code})` : ""}`,
    ...detailsOf(error).map((line) => `  ${line}`),
    ...next.flatMap(({ say, command }) => [
      `  ${oneLine(say)}`,
      ...(command === undefined ? [] : [`    ${style("busy", command)}`]),
    ]),
  ]);
  return exitCode;
}

function detailsOf(error: CodedError): string[] {
  const { diagnostics, advice, requestId } = explainError(error);
  return [
    ...diagnosticLines(diagnostics, (_, text) => text),
    ...advice.map((line) => oneLine(line, 1_000)),
    ...(requestId === null ? [] : [`Stored under ${oneLine(requestId, 80)}`]),
  ];
}

function jsonOf(error: CodedError): object {
  if (!(error instanceof ApiRefusedError)) {
    return { code: error.code, message: error.message, retryable: error.retryable, ...error.facts };
  }
  const { code, remedy, retryable, facts } = error.facts;
  return { ...facts, code, message: error.message, retryable, remedy };
}
