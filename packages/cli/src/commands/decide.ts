import { READ_RUN, type RequestRun, type StepRun, type StepValues } from "@planwright/client";
import {
  countText,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  JsonValueSchema,
  parseExactJson,
  stepsInDoubt,
  stepsToApprove,
} from "@planwright/plan";
import { bindTexts, checkAnswer } from "@planwright/reading";
import { InvalidArgumentError } from "commander";
import {
  ANSWER_QUESTIONS,
  APPROVE,
  LIST_TOOLS,
  type PlanRecord,
  READ_REQUEST,
  RESOLVE_IN_DOUBT,
  type RequestRecord,
} from "../operations.ts";
import { type ExitCode, InterruptedError, UsageError } from "../report/exit-code.ts";
import { inlineJson, stepName } from "../report/format.ts";
import { oneLine, printableJson } from "../terminal.ts";
import { act } from "./act.ts";
import type { CommandContext } from "./command-context.ts";

/** Answers the planner's questions; without answers it asks the person at the terminal. */
export async function answer(
  context: CommandContext,
  requestId: string,
  { answers, watch }: { answers: readonly string[]; watch?: boolean },
): Promise<ExitCode> {
  const given = answers.length > 0 ? answers : await askAnswers(context, requestId);
  return act(context, {
    operation: ANSWER_QUESTIONS,
    variables: { requestId, answers: [...given] },
    done: () => "answered; planning continues",
    watch,
  });
}

async function askAnswers(context: CommandContext, requestId: string): Promise<string[]> {
  const { openQuestions, status } = await context.client.readRequest(READ_REQUEST, requestId);
  if (openQuestions.length === 0) {
    throw new UsageError(`${requestId} is ${status} and has no open questions: no answer was sent`);
  }
  if (!context.canAsk) {
    throw new UsageError(
      `Give ${countText(openQuestions.length, "answer")}: ${openQuestions.map(({ question }) => oneLine(question)).join(" ")}`,
    );
  }
  const { isCancel, text } = await import("@clack/prompts");
  const answers: string[] = [];
  for (const asked of openQuestions) {
    const reply = await text({
      message: oneLine(asked.question),
      signal: context.signal,
      validate: (typed) => whyUnfit(asked, typed ?? ""),
    });
    context.signal.throwIfAborted();
    if (isCancel(reply)) throw new InterruptedError("SIGINT");
    answers.push(reply);
  }
  return answers;
}

/**
 * Why the API would refuse an answer; the question is then asked again at once. Dates in words such as
 * "tomorrow" are not checked here: the API reads them, because it knows the time zone.
 */
function whyUnfit(
  { id, question, stepId, tool, parameter, ...asked }: RequestRun["openQuestions"][number],
  typed: string,
): string | undefined {
  const schema = isJsonObject(asked.schema) ? asked.schema : null;
  const about =
    stepId === null || tool === null || parameter === null
      ? null
      : { stepId, tool, keys: [parameter], schema };
  const isDate = schema?.["format"] === "date" || schema?.["format"] === "date-time";
  if (typed.trim() !== "" && (isDate || typed.trim().split(/\s+/).length > 3)) return undefined;
  const { unfit } = bindTexts([{ id, question, about }], [typed]);
  return unfit[0] && oneLine(unfit[0].message);
}

/** The options of `approve`. */
export interface ApproveOptions {
  hash?: string;
  refuse?: boolean;
  reason?: string;
  watch?: boolean;
}

/**
 * Approves or refuses the call of a step: the call with the given hash, or the one that is shown and
 * confirmed.
 */
export async function approve(
  context: CommandContext,
  ids: { requestId: string; stepId: string | undefined },
  { hash, refuse = false, reason, watch }: ApproveOptions,
): Promise<ExitCode> {
  const request = await context.client.readRequest(READ_REQUEST, ids.requestId);
  const step = theStep(request, stepsToApprove, ids.stepId, "waits for an approval");
  const approvalHash = step.approvalHash ?? "";
  if (hash === undefined) await confirmCall(context, step, refuse);
  else if (hash.length < 8 || !approvalHash.startsWith(hash)) throw otherCall(context, request, step);
  return act(context, {
    operation: APPROVE,
    variables: { requestId: ids.requestId, stepId: step.id, hash: approvalHash, approved: !refuse, reason },
    done: () => `${stepName(step)} ${refuse ? "refused" : "approved"}`,
    watch,
  });
}

function otherCall({ command }: CommandContext, { requestId }: RequestRecord, step: StepRun): UsageError {
  return new UsageError(
    `The hash is not the one of the call that ${stepName(step)} waits for, or has fewer than 8 characters; look at it with ${command("debug", requestId)}`,
  );
}

async function confirmCall(
  context: CommandContext,
  step: StepRun & StepValues,
  refuse: boolean,
): Promise<void> {
  const tool = oneLine(step.tool, 120);
  if (!context.canAsk) {
    const call = `${tool} with ${inlineJson(step.resolvedArguments, 2_000)}`;
    throw new UsageError(`Name the call: --hash ${(step.approvalHash ?? "").slice(0, 12)} is ${call}`);
  }
  // All arguments: an operator cannot approve what is cut at the edge of the screen.
  context.output.print(
    step.resolvedArguments === null
      ? [`${stepName(step)} calls ${tool} with more than 32 KiB, of which only a preview is kept`]
      : [`${stepName(step)} calls ${tool} with`, ...printableJson(step.resolvedArguments, 2).split("\n")],
  );
  const { confirm, isCancel } = await import("@clack/prompts");
  const message = `${refuse ? "Refuse" : "Approve"} this call?`;
  const isSure = await confirm({ message, initialValue: false, signal: context.signal });
  context.signal.throwIfAborted();
  if (isCancel(isSure)) throw new InterruptedError("SIGINT");
  if (!isSure) throw new UsageError("Nothing was approved or refused");
}

/** The options of `resolve`. */
export interface DoubtOptions {
  completed?: string;
  failed?: string;
  retry?: boolean;
  attempt?: number;
  watch?: boolean;
}

/** Settles calls in doubt, all in the same way. */
export async function resolve(
  context: CommandContext,
  ids: { requestId: string; stepKeys: readonly string[] },
  options: DoubtOptions,
): Promise<ExitCode> {
  const settlement = settlementOf(options);
  const request = await context.client.readRequest(READ_REQUEST, ids.requestId);
  const names = ids.stepKeys.length > 0 ? ids.stepKeys : [undefined];
  const steps = [...new Set(names.flatMap((name) => theDoubts(request, name)))];
  if (options.attempt !== undefined && steps.length > 1)
    throw new UsageError("--attempt is about one call: name one step");
  return act(context, {
    operation: RESOLVE_IN_DOUBT,
    variables: {
      requestId: ids.requestId,
      decisions: steps.map(({ key, attempts }) => ({
        stepKey: key,
        attempt: options.attempt ?? attempts.length,
        ...settlement,
      })),
    },
    done: () => settled(context, request, steps, settlement.resolution),
    watch: options.watch,
  });
}

/** The calls in doubt that an operator named: one, or all items of a list. */
function theDoubts(request: RequestRecord, name: string | undefined): (StepRun & StepValues)[] {
  const items = request.plan
    ? stepsInDoubt(request.plan).filter(({ id, item }) => item !== null && id === name)
    : [];
  return items.length > 0 ? items : [theStep(request, stepsInDoubt, name, "is in doubt")];
}

function settled(
  { command }: CommandContext,
  { requestId, plan }: RequestRecord,
  steps: readonly (StepRun & StepValues)[],
  resolution: "completed" | "failed" | "retry",
): string {
  const [step, ...others] = steps;
  const name = step && others.length === 0 ? stepName(step) : countText(steps.length, "call");
  if (resolution !== "retry") return `${name} settled as ${resolution}`;
  if (plan?.finishedAt === null)
    return `${name} settled as not happened; ${others.length === 0 ? "it is" : "they are"} called again`;
  return `${name} settled as not happened. The plan has ended; to have ${others.length === 0 ? "it" : "them"} called again: ${command("retry", requestId)}`;
}

function settlementOf({ completed, failed, retry }: DoubtOptions): {
  resolution: "completed" | "failed" | "retry";
  output?: JsonValue;
  reason?: string;
} {
  const given = [completed !== undefined, failed !== undefined, retry === true].filter(Boolean).length;
  if (given !== 1) throw new UsageError("Give one of --completed <output>, --failed <reason>, --retry");
  if (completed !== undefined) return { resolution: "completed", output: parseOutput(completed) };
  return failed === undefined ? { resolution: "retry" } : { resolution: "failed", reason: failed };
}

function parseOutput(output: string): JsonValue {
  try {
    // Also refuses what is nested too deeply to be sent.
    return JsonValueSchema.parse(parseExactJson(output));
  } catch (error) {
    const example = `--completed '{"_id":"a1"}', or --completed null if no step needs it`;
    throw new UsageError(`The output is not JSON; write it as in ${example}`, error);
  }
}

/** The step with this id or key, or else the only one. @throws {UsageError} */
function theStep(
  { status, plan }: RequestRecord,
  open: (plan: PlanRecord) => readonly (StepRun & StepValues)[],
  name: string | undefined,
  what: string,
): StepRun & StepValues {
  const steps = plan ? open(plan) : [];
  const found =
    name === undefined
      ? steps
      : steps.filter(({ id, key, item }) => key === name || (item === null && id === name));
  const [step] = found;
  const names = steps.map(({ key }) => oneLine(key, 80)).join(", ");
  if (!step) {
    throw new UsageError(
      steps.length === 0
        ? `No step of the request ${what}: it is ${status}, and nothing was changed`
        : `${oneLine(name ?? "", 80)} is not a step that ${what}; these are: ${names}`,
    );
  }
  if (found.length > 1) throw new UsageError(`More than one step ${what}: name one of ${names}`);
  return step;
}

/** One `--set step.argument=value` as it was typed. */
export interface SetArgument {
  stepId: string;
  name: string;
  text: string;
}

/** Adds one `--set` to those before it. @throws {InvalidArgumentError} */
export function collectSet(typed: string, before: readonly SetArgument[] | undefined): SetArgument[] {
  const [, stepId, name, text] = /^([A-Za-z][A-Za-z0-9_-]{0,63})\.([^=]+)=(.*)$/s.exec(typed) ?? [];
  if (stepId === undefined || name === undefined || text === undefined) {
    throw new InvalidArgumentError("Give step.argument=value, such as createBlog.title=Hello");
  }
  return [...(before ?? []), { stepId, name, text }];
}

/**
 * The arguments as the API takes them: a text that is JSON and fits the tool's schema becomes that value; any
 * other text stays text.
 */
export async function toChanges(
  { client }: CommandContext,
  requestId: string,
  sets: readonly SetArgument[],
): Promise<{ stepId: string; set: JsonObject }[]> {
  const [{ plan }, { tools }] = await Promise.all([
    client.readRequest(READ_RUN, requestId),
    client.execute(LIST_TOOLS, {}),
  ]);
  const changes = new Map<string, JsonObject>();
  for (const { stepId, name, text } of sets) {
    const tool = plan?.steps.find(({ id }) => id === stepId)?.tool;
    const inputSchema = tools.find((one) => one.name === tool)?.inputSchema ?? null;
    const value = argumentValue(text, {
      stepId,
      name,
      tool: tool ?? name,
      schema: schemaOf(inputSchema, name),
    });
    changes.set(stepId, { ...changes.get(stepId), [name]: value });
  }
  return [...changes].map(([stepId, set]) => ({ stepId, set }));
}

/**
 * The value of an argument for the text that the user typed.
 * @param schema - the argument's schema; null when the tool declares none
 */
export function argumentValue(
  text: string,
  { stepId, name, tool, schema }: { stepId: string; name: string; tool: string; schema: JsonObject | null },
): JsonValue {
  const value = jsonOf(text);
  if (value === undefined) return text;
  return checkAnswer({ stepId, tool, keys: [name], schema }, value).ok ? value : text;
}

function jsonOf(text: string): JsonValue | undefined {
  try {
    return JsonValueSchema.parse(parseExactJson(text));
  } catch {
    return undefined; // Not JSON: most values are plain text.
  }
}

/** The schema of one argument, with the tool's definitions, to which it may refer. */
function schemaOf(inputSchema: JsonValue, name: string): JsonObject | null {
  if (!isJsonObject(inputSchema) || !isJsonObject(inputSchema["properties"])) return null;
  const { $defs, definitions, properties } = inputSchema;
  const schema = isJsonObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
  if (!isJsonObject(schema)) return null;
  return {
    ...(isJsonObject($defs) ? { $defs } : {}),
    ...(isJsonObject(definitions) ? { definitions } : {}),
    ...schema,
  };
}
