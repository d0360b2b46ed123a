import { ApiRefusedError, ENDED, explainError, type Given, sendAgain } from "@planwright/client";
import { CodedError } from "@planwright/plan";
import type { Accepted, Change } from "../operations.ts";
import { diagnosticLines, type NextStep } from "../report/diagnosis.ts";
import { EXIT, type ExitCode, exitCodeOfError } from "../report/exit-code.ts";
import type { Output } from "../terminal/output.ts";
import { oneLine } from "../terminal/visible-text.ts";
import type { CommandContext } from "./command-context.ts";
import { acceptingRepeats } from "./control.ts";
import { followToEnd } from "./follow-to-end.ts";

/** A change of a request. */
export interface Action<Variables> {
  operation: Change<Variables>;
  variables: Given<Variables>;
  /** The line to print once the API has accepted the change. */
  done: (accepted: Accepted) => string;
  /** True follows the request afterwards. */
  watch?: boolean | undefined;
  /** True for an operation with an idempotency key: it can be sent again safely. Default false. */
  isKeyed?: boolean | undefined;
  /** For an operation that may repeat effects: ids of steps that may be called once more. */
  repeat?: readonly string[] | undefined;
  /**
   * True for an operation that ends the plan: the request is followed to its end, also while it waits for a
   * person. Default false.
   */
  isEnd?: boolean | undefined;
}

/**
 * Sends a change of a request, and prints that it was accepted, or follows the request.
 * @throws {ApiRefusedError} when the API changed nothing
 */
export async function act<Variables>(
  context: CommandContext,
  { operation, variables, done, watch, isKeyed, isEnd, repeat }: Action<Variables>,
): Promise<ExitCode> {
  const { client, output, isJson, command, signal } = context;
  const { accepted } = repeat
    ? await acceptingRepeats(context, repeat, (acceptRepeat) =>
        client.execute(operation, { ...variables, acceptRepeat }),
      )
    : await sendAgain(() => client.execute(operation, variables), { signal, isKeyed });
  if (watch) return followToEnd(context, accepted.requestId, { until: isEnd ? "end" : "rest" });
  if (isJson) output.printJson(accepted, { isIndented: true });
  else {
    output.print([`${accepted.requestId}: ${done(accepted)}`]);
    if (!ENDED.has(accepted.status)) {
      output.note([`To follow it:  ${command("watch", accepted.requestId)}`]);
    }
  }
  return EXIT.OK;
}

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
    return { code: error.code, message: error.message, retryable: error.retryable, ...error.facts };
  }
  const { code, remedy, retryable, facts } = error.facts;
  return { ...facts, code, message: error.message, retryable, remedy };
}
