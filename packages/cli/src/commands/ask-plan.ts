import { randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { addAbortSignal, type Readable } from "node:stream";
import { sendAgain } from "@planwright/client";
import {
  countText,
  isJsonObject,
  isTimezone,
  type JsonObject,
  type JsonValue,
  JsonValueSchema,
  type Priority,
  parseExactJson,
} from "@planwright/plan";
import {
  CREATE_PLAN,
  type PlanRecord,
  type RequestRecord,
  SUBMIT_PLAN,
  VALIDATE_PLAN,
} from "../operations.ts";
import { diagnosticLines, resultLines } from "../report/diagnosis.ts";
import { EXIT, type ExitCode, exitCodeOf, UsageError } from "../report/exit-code.ts";
import { planText } from "../report/plan-text.ts";
import type { Style } from "../terminal.ts";
import type { CommandContext } from "./command-context.ts";
import { followToEnd, leavingEarly, readResult, showLive } from "./follow-to-end.ts";

/** Options for a sentence or a plan. The API has defaults for absent ones. */
export interface AskOptions {
  tag?: string[];
  priority?: Priority;
  maxReplans?: number;
  answer?: boolean;
  maxModelCalls?: number;
  maxTokens?: number;
  maxCostUsd?: number;
}

/** The options of `submit`. */
export interface SubmitFlags extends AskOptions {
  execute?: boolean;
  query?: string;
  detach?: boolean;
}

/** Plans a sentence and executes the plan; follows it unless `detach` is true. */
export async function run(
  context: CommandContext,
  sentence: string,
  { detach, ...options }: AskOptions & SentenceOptions & { detach?: boolean },
): Promise<ExitCode> {
  const requestId = await createPlan(context, { query: sentence, execute: true }, options);
  return detach ? accepted(context, requestId) : followToEnd(context, requestId);
}

/** Plans a sentence and shows the plan; starts nothing. */
export async function plan(
  context: CommandContext,
  sentence: string,
  options: AskOptions & SentenceOptions = {},
): Promise<ExitCode> {
  return showPlan(context, await createPlan(context, { query: sentence, execute: false }, options));
}

async function createPlan(
  context: CommandContext,
  asked: { query: string; execute: boolean },
  options: AskOptions & SentenceOptions,
): Promise<string> {
  const inputs = await sentenceVariables(options, context);
  const variables = { ...asked, ...inputs, ...askVariables(options) };
  const { client, signal } = context;
  const { accepted: made } = await sendAgain(() => client.execute(CREATE_PLAN, variables), {
    signal,
    isKeyed: true,
  });
  return made.requestId;
}

/** Submits a plan as JSON; with `execute` it is started and followed. */
export async function submit(
  context: CommandContext,
  file: string,
  { execute = false, query, detach, ...options }: SubmitFlags,
): Promise<ExitCode> {
  const document = await readJsonFile(file, context);
  const variables = { plan: document, execute, query, ...askVariables(options) };
  const { client, signal } = context;
  const { accepted: stored } = await sendAgain(() => client.execute(SUBMIT_PLAN, variables), {
    signal,
    isKeyed: true,
  });
  const { requestId } = stored;
  if (!execute) return showPlan(context, requestId);
  return detach ? accepted(context, requestId) : followToEnd(context, requestId);
}

/** With a new idempotency key: when it is sent again it is the same request. */
function askVariables(options: AskOptions) {
  const { tag, priority, maxReplans, answer } = options;
  const { maxModelCalls = null, maxTokens = null, maxCostUsd = null } = options;
  const limits = { maxModelCalls, maxTokens, maxCostUsd };
  return { tags: tag, priority, maxReplans, answer, limits, key: randomUUID() };
}

function accepted({ output, isJson, command }: CommandContext, requestId: string): ExitCode {
  if (isJson) output.printJson({ event: "accepted", requestId });
  else {
    output.print([requestId]);
    output.note([`To follow it:  ${command("watch", requestId)}`]);
  }
  return EXIT.OK;
}

/** Waits until there is a plan and prints it; if planning gives no plan, prints the diagnosis. */
function showPlan(context: CommandContext, requestId: string): Promise<ExitCode> {
  return leavingEarly(context, requestId, async () => {
    const { output, isJson, command } = context;
    await waitForPlan(context, requestId);
    const request = await readResult(context, requestId);
    const isReady = request.status === "READY";
    const exitCode = isReady ? EXIT.OK : (exitCodeOf(request) ?? EXIT.NEEDS_DECISION);
    if (isJson) {
      output.printJson(request, { isIndented: true });
      return exitCode;
    }
    const { style } = output;
    if (isReady && request.plan) {
      output.print([
        ...planText(request.plan, style),
        ...diagnosticsOf(request, style),
        "",
        "Nothing was started. To execute exactly this plan:",
        `  ${style("busy", command("execute", requestId, ...hashOf(request.plan)))}`,
      ]);
    } else {
      output.print([`${requestId}  ${request.status}`, ...resultLines(request, command, style)]);
    }
    return exitCode;
  });
}

/** The option with which `execute` starts exactly this plan. */
function hashOf({ planHash }: PlanRecord): string[] {
  return planHash === null ? [] : ["--hash", planHash.slice(0, 12)];
}

/** The diagnostics to look at before the plan is executed. */
function diagnosticsOf({ diagnostics }: RequestRecord, style: Style): string[] {
  const lines = diagnosticLines(diagnostics, style);
  return lines.length === 0 ? [] : ["", "Look at this first:", ...lines.map((line) => `  ${line}`)];
}

async function waitForPlan(context: CommandContext, requestId: string): Promise<void> {
  const { client, signal, output, isJson } = context;
  if (output.isTerminal && !isJson) return showLive(context, requestId, { wasAccepted: true });
  for await (const request of client.follow(requestId, { wasAccepted: true, signal })) void request;
}

/** Options for planning a sentence. */
export interface SentenceOptions {
  /** A file, or a JSON object. */
  context?: string;
  timezone?: string;
  profile?: string;
  /** A file, or a JSON object. */
  policy?: string;
}

/** The options as variables of the mutation. @throws {UsageError} */
async function sentenceVariables({ context, timezone, profile, policy }: SentenceOptions, from: ReadFrom) {
  const given = context === undefined ? {} : await objectOf("--context", context, from);
  return {
    context: { ...terminalZone(), ...given, ...(timezone === undefined ? {} : { timezone }) },
    profile,
    policy: policy === undefined ? undefined : await objectOf("--policy", policy, from),
  };
}

/** The terminal's time zone, if the system gives its name. */
function terminalZone(): { timezone?: string } {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  return isTimezone(timeZone) ? { timezone: timeZone } : {};
}

/**
 * The object that the user typed, or the content of the file that the user named.
 * @param option - names it in errors
 * @throws {UsageError}
 */
export async function objectOf(option: string, typed: string, from: ReadFrom): Promise<JsonObject> {
  const value = typed.trimStart().startsWith("{") ? parsed(option, typed) : await readJsonFile(typed, from);
  if (isJsonObject(value)) return value;
  throw new UsageError(`${option} is not a JSON object`);
}

function parsed(option: string, text: string): unknown {
  try {
    return JsonValueSchema.parse(parseExactJson(text));
  } catch (error) {
    throw new UsageError(`${option} is not JSON: ${error instanceof Error ? error.message : ""}`, error);
  }
}

/** Checks a plan against the tools that the API knows, and stores nothing. */
export async function validate(context: CommandContext, file: string): Promise<ExitCode> {
  const { client, output, isJson } = context;
  const plan = await readJsonFile(file, context);
  const { check } = await client.execute(VALIDATE_PLAN, { plan });
  const { valid, diagnostics } = check;
  if (isJson) output.printJson({ valid, diagnostics }, { isIndented: true });
  else {
    const { style } = output;
    const errors = diagnostics.filter(({ severity }) => severity === "error").length;
    const verdict = valid
      ? `${style("good", "✔")} The plan is valid${diagnostics.length > 0 ? `, with ${countText(diagnostics.length, "warning")}` : ""}`
      : `${style("bad", "✖")} The plan is not valid: ${countText(errors, "error")}`;
    output.print([verdict, ...diagnosticLines(diagnostics, style).map((line) => `  ${line}`)]);
  }
  return valid ? EXIT.OK : EXIT.PLAN_FAILED;
}

/** What reading a document uses of the program. */
type ReadFrom = Pick<CommandContext, "stdin" | "signal">;

/** The API takes documents of 1 MiB. */
const MAX_BYTES = 1_048_576;

/**
 * Reads a JSON document from a file, or from standard input for "-". A list in place of the name of a file is
 * the document itself.
 * @throws {UsageError}
 */
export async function readJsonFile(file: string, { stdin, signal }: ReadFrom): Promise<JsonValue> {
  const isGiven = file.trimStart().startsWith("[");
  const name = isGiven ? "the given list" : file === "-" ? "standard input" : file;
  const text = isGiven ? file : await readText(file === "-" ? stdin : createReadStream(file), name, signal);
  try {
    return JsonValueSchema.parse(parseExactJson(text));
  } catch (error) {
    const why = error instanceof SyntaxError ? error.message : "it is nested too deep";
    throw new UsageError(`${name} is not JSON: ${why}`, error);
  }
}

/** Editors and shells of Windows write byte order marks, and an older PowerShell UTF-16. */
function textOf(bytes: Buffer): string {
  const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
  return new TextDecoder(isUtf16 ? "utf-16le" : "utf-8").decode(bytes);
}

async function readText(stream: Readable, name: string, signal: AbortSignal): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of addAbortSignal(signal, stream)) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > MAX_BYTES) break;
    }
  } catch (error) {
    signal.throwIfAborted();
    throw new UsageError(`${name} cannot be read: ${error instanceof Error ? error.message : ""}`, error);
  }
  if (size > MAX_BYTES)
    throw new UsageError(`${name} is larger than 1 MiB, which is more than the API accepts`);
  return textOf(Buffer.concat(chunks));
}
