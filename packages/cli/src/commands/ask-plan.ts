import { randomUUID } from "node:crypto";
import { sendAgain } from "@planwright/client";
import type { Priority } from "@planwright/plan";
import { CREATE_PLAN, SUBMIT_PLAN } from "../api/mutations.ts";
import { EXIT, type ExitCode } from "../report/exit-code.ts";
import type { CommandContext } from "./command-context.ts";
import { followToEnd } from "./follow-to-end.ts";
import { readJsonFile } from "./read-json-file.ts";
import { type SentenceOptions, sentenceVariables } from "./sentence-options.ts";
import { showPlan } from "./show-plan.ts";

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
