import { estimateTokens } from "@planwright/models";
import { isJsonObject, type JsonObject } from "@planwright/plan";
import type { ScriptedAnswer } from "@planwright/testing";
import { z } from "zod";

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
export function tokensOf(body: JsonObject, answer: AnswerParts): CallTokens {
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
export function messagesOf({ messages }: JsonObject): JsonObject[] {
  return Array.isArray(messages) ? messages.filter(isJsonObject) : [];
}

type AnswerParts = Pick<ScriptedAnswer, "text" | "toolCalls">;

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
export function answerMs(model: LatencyModel, { prompt, completion }: CallTokens): number {
  return Math.round(
    model.firstTokenMs + prompt * model.perPromptTokenMs + completion * model.perOutputTokenMs,
  );
}
