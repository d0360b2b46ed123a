import { estimateTokens } from "@planwright/models";
import { isJsonObject, type JsonObject, type JsonValue, resolveReferences } from "@planwright/plan";
import type { ModelRequest, ModelScript, ScriptedAnswer, ScriptedToolCall } from "@planwright/testing";
import { z } from "zod";
import type { Task, TaskCall } from "./model-tasks.ts";

/**
 * The system that works on a task: a ReAct loop with one tool call per turn, a ReAct loop with as many calls
 * per turn as possible, or Planwright without or with an answer in words.
 */
export type ModelContender = "react" | "react-parallel" | "planwright" | "planwright-answer";

/** What the model needs to answer. */
interface Playing {
  task: Task;
  contender: ModelContender;
  latency: LatencyModel;
  /** Called for every model call. */
  onCall: (tokens: CallTokens) => void;
}

/**
 * A model that knows the task and makes no mistakes. In a ReAct loop it makes the next calls, from the
 * results in the messages. For the planner it writes the plan. The final answer is the same text for all
 * contenders.
 */
export function scriptedModel({ task, contender, latency, onCall }: Playing): ModelScript {
  return ({ body }: ModelRequest): ScriptedAnswer => {
    const answer = contender.startsWith("react")
      ? nextTurn(task, body, contender === "react" ? 1 : task.calls.length)
      : plannerAnswer(task, body);
    const tokens = tokensOf(body, answer);
    onCall(tokens);
    return {
      type: "answer",
      ...answer,
      firstTokenMs: answerMs(latency, tokens),
      chunkSize: 1_000_000,
      usage: { inputTokens: tokens.prompt, outputTokens: tokens.completion },
    };
  };
}

export type AnswerParts = Pick<ScriptedAnswer, "text" | "toolCalls">;

/** The calls whose arguments are known, up to a limit; the answer when all calls have been made. */
function nextTurn(task: Task, body: JsonObject, atOnce: number): AnswerParts {
  const outputs = outputsIn(body);
  const open = task.calls.filter(({ id }) => !outputs.has(id));
  if (open.length === 0) return { text: task.answer };
  const ready = open.filter((call) => dependenciesOf(call, task).every((id) => outputs.has(id)));
  return { toolCalls: ready.slice(0, atOnce).map((call) => toToolCall(call, outputs)) };
}

/** Results of tools in the messages, by the id of their call. */
function outputsIn(body: JsonObject): Map<string, JsonValue> {
  return new Map(
    messagesOf(body).flatMap(({ role, content, tool_call_id: id }) => {
      if (role !== "tool" || typeof id !== "string" || typeof content !== "string") return [];
      const output: JsonValue = JSON.parse(content);
      return [[id, output] as const];
    }),
  );
}

function toToolCall(call: TaskCall, outputs: ReadonlyMap<string, JsonValue>): ScriptedToolCall {
  const { value } = resolveReferences({ ...call.arguments }, { outputs });
  return { id: call.id, name: call.tool, arguments: isJsonObject(value) ? value : {} };
}

const dependenciesOf = (call: TaskCall, task: Task) =>
  task.calls.map(({ id }) => id).filter((id) => JSON.stringify(call.arguments).includes(`<<${id}.`));

/**
 * Answers by the kind of request: with tools it calls them, with a schema it plans, otherwise it reports the
 * results.
 */
function plannerAnswer(task: Task, body: JsonObject): AnswerParts {
  if (body["tools"] !== undefined) {
    const isDirect =
      task.calls.length <= 2 && task.calls.every((call) => dependenciesOf(call, task).length === 0);
    return isDirect ? { toolCalls: task.calls.map((call) => toToolCall(call, new Map())) } : { text: "PLAN" };
  }
  return body["response_format"] === undefined ? { text: task.answer } : { text: planText(task) };
}

/**
 * The plan in the form of the answer's schema and by the planner's rules, without white space, like
 * structured output.
 */
function planText(task: Task): string {
  const steps = (task.plan ?? task.calls).map((call) => {
    const step = { tool: call.tool, arguments: JSON.stringify(call.arguments) };
    const forEach = "forEach" in call ? { forEach: call.forEach } : {};
    return needsId(call, task) || "forEach" in call
      ? { id: call.id, ...step, dependsOn: [], ...forEach }
      : step;
  });
  return JSON.stringify({ steps, missing: null, impossible: null });
}

/**
 * True when another call refers to this one and several calls use its tool, so that the tool's name is
 * ambiguous.
 */
function needsId({ id, tool }: TaskCall, { calls }: Task): boolean {
  const isReferredTo = calls.some((call) => JSON.stringify(call.arguments).includes(`<<${id}.`));
  return isReferredTo && calls.filter((call) => call.tool === tool).length > 1;
}

/** How long the scripted model takes, in milliseconds. */
export interface LatencyModel {
  /** From the request to the first token of an answer, in addition to the cost of the prompt. */
  firstTokenMs: number;
  perPromptTokenMs: number;
  perOutputTokenMs: number;
}

/** Tokens of one model call. One estimator counts them for all contenders. */
export interface CallTokens {
  prompt: number;
  completion: number;
}

/** Tokens that providers add around each message and each call. */
const AROUND = 4;

/**
 * Tokens of a request and its answer: everything that a provider bills. A text counts as it is; a call by its
 * name and arguments; descriptions of tools and the schema of the answer as JSON.
 */
function tokensOf(body: JsonObject, answer: AnswerParts): CallTokens {
  const schemas = [body["tools"], body["response_format"]].filter((part) => part !== undefined);
  return {
    prompt:
      sum(messagesOf(body).map(tokensOfMessage)) +
      sum(schemas.map((part) => estimateTokens(JSON.stringify(part)))),
    completion:
      estimateTokens(answer.text ?? "") +
      sum((answer.toolCalls ?? []).map((call) => tokensOfCall(call.name, call.arguments))),
  };
}

const MadeCallsSchema = z.array(
  z.object({ function: z.object({ name: z.string(), arguments: z.string() }) }),
);

/** The messages of a request. */
function messagesOf({ messages }: JsonObject): JsonObject[] {
  return Array.isArray(messages) ? messages.filter(isJsonObject) : [];
}

function tokensOfMessage({ content, tool_calls: calls }: JsonObject): number {
  const text = typeof content === "string" ? estimateTokens(content) : 0;
  const made = MadeCallsSchema.parse(calls ?? []).map(({ function: { name, arguments: args } }) =>
    tokensOfCall(name, args),
  );
  return AROUND + text + sum(made);
}

function tokensOfCall(name: string, args: JsonObject | string): number {
  return AROUND + estimateTokens(name + (typeof args === "string" ? args : JSON.stringify(args)));
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

/**
 * Time of one call until its last token. The whole answer is sent at that moment, so streaming would gain
 * nothing here.
 */
function answerMs(model: LatencyModel, { prompt, completion }: CallTokens): number {
  return Math.round(
    model.firstTokenMs + prompt * model.perPromptTokenMs + completion * model.perOutputTokenMs,
  );
}
