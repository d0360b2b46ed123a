import { randomUUID } from "node:crypto";
import { sendAgain } from "@planwright/client";
import type { Priority } from "@planwright/plan";
import { CREATE_PLAN, SUBMIT_PLAN } from "../api/mutations.ts";
import { type PlanRecord, READ_REQUEST, type RequestRecord } from "../api/request-record.ts";
import { diagnosticLines } from "../report/diagnostic-lines.ts";
import { EXIT, type ExitCode, exitCodeOf } from "../report/exit-code.ts";
import { planText } from "../report/plan-text.ts";
import { resultLines } from "../report/result-lines.ts";
import type { Style } from "../terminal/style.ts";
import type { CommandContext } from "./command-context.ts";
import { followToEnd } from "./follow-to-end.ts";
import { leavingEarly } from "./leaving-early.ts";
import { readJsonFile } from "./read-json-file.ts";
import { type SentenceOptions, sentenceVariables } from "./sentence-options.ts";
import { showLive } from "./show-live.ts";

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
export interface SubmitOptions extends AskOptions {
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
  const inputs = await sentenceVariables(options, context.signal);
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
  { execute = false, query, detach, ...options }: SubmitOptions,
): Promise<ExitCode> {
  const document = await readJsonFile(file, context.signal);
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
    const { client, output, isJson, command } = context;
    await waitForPlan(context, requestId);
    const request = await client.readRequest(READ_REQUEST, requestId);
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
