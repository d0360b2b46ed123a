import { ApiRefusedError, explainError } from "@planwright/client";
import { CodedError } from "@planwright/plan";
import { diagnosticLines, type NextStep } from "../report/diagnosis.ts";
import { type ExitCode, exitCodeOfError } from "../report/exit-code.ts";
import { type Output, oneLine } from "../terminal.ts";

/** How to print an error. */
interface PrintErrorOptions {
  output: Output;
  isJson: boolean;
  /** What the user can do now. */
  next?: readonly NextStep[];
}

/**
 * Prints an error and what to do: as JSON on standard output, otherwise on standard error.
 * @throws {unknown} the error itself if it is not a CodedError
 */
export function printError(error: unknown, { output, isJson, next = [] }: PrintErrorOptions): ExitCode {
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
    ...next.flatMap(({ instruction, command }) => [
      `  ${oneLine(instruction)}`,
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
    return { ...error.facts, code: error.code, message: error.message, retryable: error.retryable };
  }
  const { code, remedy, retryable, facts } = error.facts;
  return { ...facts, code, message: error.message, retryable, remedy };
}
