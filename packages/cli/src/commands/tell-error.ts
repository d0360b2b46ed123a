import { CodedError } from "@planwright/plan";
import { DiagnosticsSchema } from "../api/operations.ts";
import { ApiRefusedError, ApiUnreachableError } from "../errors.ts";
import type { NextStep } from "../report/diagnosis.ts";
import { type ExitCode, exitCodeOfError } from "../report/exit-code.ts";
import { findingLines } from "../report/findings.ts";
import type { Output } from "../terminal/output.ts";
import { oneLine } from "../terminal/visible-text.ts";

/** How an error is told. */
export interface TellErrorOptions {
  output: Output;
  isJson: boolean;
  /** What can be done now. */
  next?: readonly NextStep[];
}

/** Tells an error and what to do: as JSON on standard output, otherwise on standard error. @throws what was not expected */
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
  if (error instanceof ApiUnreachableError) {
    return ["Is it running? Start it with npm start, or name another one with --url or PLANWRIGHT_URL."];
  }
  if (!(error instanceof ApiRefusedError)) return [];
  const findings = DiagnosticsSchema.safeParse(error.fact("diagnostics"));
  const requestId = error.fact("requestId");
  const isStored = findings.success && error.fact("stored") !== false;
  return [
    ...findingLines(findings.success ? findings.data : [], (_, text) => text),
    ...(error.facts.code === "UNAUTHENTICATED" ? ["Set PLANWRIGHT_API_KEY to an API key or a token."] : []),
    ...(error.facts.remedy === null ? [] : [oneLine(error.facts.remedy, 1_000)]),
    ...(typeof requestId === "string" && isStored ? [`Stored under ${oneLine(requestId, 80)}`] : []),
  ];
}

function jsonOf(error: CodedError): object {
  if (!(error instanceof ApiRefusedError)) {
    return { code: error.code, message: error.message, retryable: error.retryable, ...error.facts };
  }
  const { code, remedy, retryable, facts } = error.facts;
  return { ...facts, code, message: error.message, retryable, remedy };
}
