import type { Call, Outcome } from "@planwright/engine";
import {
  CodedError,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  knownContract,
  resolveReferences,
  type ToolContract,
  type ToolDescriptor,
} from "@planwright/plan";
import type { ToolClients } from "@planwright/tools";
import type { PlanTools } from "./plan-tools.ts";

/** A call of class V whose fate is unknown, and who can be asked about it. */
export interface LookupQuestion {
  call: Call;
  idempotencyKey: string;
  planTools: Pick<PlanTools, "find" | "addressOf">;
  tools: Pick<ToolClients, "callTool">;
  signal: AbortSignal;
  /** Resolves after so many milliseconds, or once the signal is aborted. */
  wait: (ms: number, signal: AbortSignal) => Promise<void>;
}

/**
 * Asks the lookup tool of a call's contract what became of the call. Its arguments may refer to those of the call
 * (`<<arguments.reference>>`) and to its key (`<<idempotencyKey>>`); it answers `{found: true, result}`, where `result` is what
 * the call would have answered, or `{found: false}`. Any other answer leaves the call in doubt; no answer is a failure with effect
 * `unknown` and a retryable error, for the look-up to be made again.
 *
 * "Not found" alone proves nothing: the call may still be on its way, in a server that stands still or in an executor that
 * does. It is believed only when the contract promises after which time it is final (`settle_ms`), and is then asked again.
 */
export async function askLookup(question: LookupQuestion): Promise<Outcome> {
  const { call, planTools, signal, wait } = question;
  const descriptor = planTools.find(call.tool);
  const lookup = descriptor && knownContract(descriptor).contract.lookup;
  if (!lookup) return doubt(`The contract of ${call.tool} names no lookup tool any more`);
  const early = await ask(question, lookup, descriptor);
  if (early.type !== "not found") return early;
  if (lookup.settleMs === undefined) {
    return doubt(
      `${lookup.tool} knows nothing of the call, which may still be on its way: the contract of ${call.tool} names no settle_ms`,
    );
  }
  await wait(lookup.settleMs, signal);
  if (signal.aborted) return { type: "aborted" };
  const final = await ask(question, lookup, descriptor);
  if (final.type !== "not found") return final;
  const error = {
    code: "EXECUTOR_LOST",
    message: `${lookup.tool} says that the call never happened`,
    retryable: true,
  };
  return { type: "failed", effect: "none", error };
}

type Lookup = NonNullable<ToolContract["lookup"]>;

async function ask(
  question: LookupQuestion,
  lookup: Lookup,
  by: ToolDescriptor,
): Promise<Outcome | { type: "not found" }> {
  const { call, idempotencyKey, planTools, tools, signal } = question;
  let args: JsonObject;
  try {
    args = resolveArguments(lookup.arguments, { arguments: call.arguments, idempotencyKey });
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
    return doubt(`The lookup of ${call.tool} could not be asked: ${error.message}`);
  }
  const outcome = await tools.callTool({
    ...planTools.addressOf(lookup.tool, by),
    arguments: args,
    timeoutMs: call.timeoutMs,
    signal,
    idempotencyKey: `${idempotencyKey}/lookup/${call.attempt}`,
  });
  if (outcome.type === "failed" && outcome.error.code === "TOOL_CHANGED")
    return doubt(`The lookup tool was not asked: ${outcome.error.message}`);
  if (outcome.type === "failed") return unanswered(lookup.tool, outcome);
  if (outcome.type !== "completed") return outcome;
  const { output } = outcome;
  if (isJsonObject(output) && output["found"] === true) {
    return { type: "completed", output: output["result"] ?? null };
  }
  if (isJsonObject(output) && output["found"] === false) return { type: "not found" };
  return doubt(`The lookup tool ${lookup.tool} answered neither {"found": true, ...} nor {"found": false}`);
}

function resolveArguments(template: JsonObject, outputs: { [name: string]: JsonValue }): JsonObject {
  const { value } = resolveReferences(template, { outputs: new Map(Object.entries(outputs)) });
  return isJsonObject(value) ? value : {};
}

/** It reads: as long as nothing but the way there failed, it is asked again. What it says itself leaves the call in doubt. */
function unanswered(
  tool: string,
  { effect, error, retryAfterMs }: Extract<Outcome, { type: "failed" }>,
): Outcome {
  const message = `The lookup tool ${tool} gave no answer: ${error.message}`;
  const retryable = effect === "unknown" || error.retryable;
  return {
    type: "failed",
    effect: "unknown",
    error: { code: error.code, message, retryable },
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}

function doubt(message: string): Outcome {
  return { type: "failed", effect: "unknown", error: { code: "EXECUTOR_LOST", message, retryable: false } };
}
