import type { Call, Outcome } from "@planwright/engine";
import {
  CodedError,
  type HeldJson,
  isJsonObject,
  type JsonObject,
  JsonText,
  type JsonValue,
  knownContract,
  parseExactJson,
  type ToolContract,
  type ToolDescriptor,
} from "@planwright/plan";
import { completedOfSent, type SentOutput, sentOutput, type ToolClients } from "@planwright/tools";
import type { PlanTools } from "./run/plan-tools.ts";

/** A call of class V whose result is unknown, and the dependencies of its look-up. */
interface LookupQuestion {
  call: Call;
  idempotencyKey: string;
  /** The arguments of the look-up, resolved. Rejects with a `CodedError` when they cannot be. */
  argumentsOf: (template: JsonObject) => Promise<JsonObject | Uint8Array>;
  /** Reads a large answer. */
  readFound: (answer: JsonText, outputSchema: JsonObject | undefined) => Promise<Found>;
  planTools: Pick<PlanTools, "find" | "addressOf">;
  tools: Pick<ToolClients, "callTool">;
  signal: AbortSignal;
  /** Resolves after so many milliseconds, or when the signal is aborted. */
  wait: (ms: number, signal: AbortSignal) => Promise<void>;
}

/**
 * Asks the lookup tool of a call's contract whether the call was made. The arguments of the look-up may refer
 * to those of the call (`<<arguments.reference>>`) and to its key (`<<idempotencyKey>>`). The tool answers
 * `{found: true, result}`, where `result` is the answer that the call would have had, or `{found: false}`.
 * Any other answer leaves the call in doubt. Without an answer the outcome is a failure with effect `unknown`
 * and a retryable error, so that the look-up is repeated.
 *
 * "Not found" alone proves nothing: the call may still be on its way, in a frozen server or a frozen
 * executor. It counts only when the contract has a time after which it is final (`settle_ms`); then the tool
 * is asked again after that time.
 */
export async function askLookup(question: LookupQuestion): Promise<Outcome> {
  const { call, planTools, signal, wait } = question;
  const descriptor = planTools.find(call.tool);
  const lookup = descriptor && knownContract(descriptor).contract.lookup;
  if (!lookup) return doubt(`The contract of ${call.tool} no longer names a lookup tool`);
  const key = `${question.idempotencyKey}/lookup/${call.attempt}`;
  const early = await ask({ ...question, key }, lookup, descriptor);
  if (early.type !== "not found") return early;
  if (lookup.settleMs === undefined) {
    return doubt(
      `${lookup.tool} did not find the call, but the call may still arrive: the contract of ${call.tool} has no settle_ms`,
    );
  }
  await wait(lookup.settleMs, signal);
  if (signal.aborted) return { type: "aborted" };
  // Another question: under the same key a server that keeps its answers would give the first one again.
  const final = await ask({ ...question, key: `${key}/settled` }, lookup, descriptor);
  if (final.type !== "not found") return final;
  const error = {
    code: "EXECUTOR_LOST",
    message: `${lookup.tool} answered that the call never happened`,
    retryable: true,
  };
  return { type: "failed", effect: "none", error };
}

type Lookup = NonNullable<ToolContract["lookup"]>;

async function ask(
  question: LookupQuestion & { key: string },
  lookup: Lookup,
  by: ToolDescriptor,
): Promise<Outcome | { type: "not found" }> {
  const { call, key, argumentsOf, planTools, tools, signal } = question;
  let args: JsonObject | Uint8Array;
  try {
    args = await argumentsOf(lookup.arguments);
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
    return doubt(`The lookup of ${call.tool} could not be asked: ${error.message}`);
  }
  const outcome = await tools.callTool({
    ...planTools.addressOf(lookup.tool, by),
    arguments: args,
    timeoutMs: call.timeoutMs,
    signal,
    idempotencyKey: key,
  });
  if (outcome.type === "failed" && outcome.error.code === "TOOL_CHANGED")
    return doubt(`The lookup tool was not asked: ${outcome.error.message}`);
  if (outcome.type === "failed") return unanswered(lookup.tool, outcome);
  if (outcome.type !== "completed") return outcome;
  const found = await resultIn(outcome.output, by, question);
  if (found) return found;
  if (found === false) return { type: "not found" };
  return doubt(`The lookup tool ${lookup.tool} answered neither {"found": true, ...} nor {"found": false}`);
}

/** What a lookup tool answered: the result of the call, that it did not find the call, or anything else. */
export type Found = { found: SentOutput } | { found: false } | { found: null };

/** The result of a call in the answer of its lookup tool; false: not found; null: the answer says neither. */
function foundIn(answer: JsonValue): { value: JsonValue } | false | null {
  if (!isJsonObject(answer)) return null;
  if (answer["found"] === true) return { value: answer["result"] ?? null };
  return answer["found"] === false ? false : null;
}

/** Reads a large answer of a lookup tool. @param outputSchema - of the tool whose call it looked up */
export function readFound(text: string, outputSchema: JsonObject | undefined): Found {
  const result = foundIn(parseExactJson(text));
  return { found: result ? sentOutput(result.value, outputSchema) : result };
}

/** The outcome of the call that was looked up; false: not found; undefined: the answer says neither. */
async function resultIn(
  answer: HeldJson,
  { outputSchema }: ToolDescriptor,
  { call, readFound: read }: LookupQuestion,
): Promise<Outcome | false | undefined> {
  if (!(answer instanceof JsonText)) {
    const found = foundIn(answer);
    return found ? { type: "completed", output: found.value } : (found ?? undefined);
  }
  try {
    const { found } = await read(answer, outputSchema);
    return found ? completedOfSent(found) : (found ?? undefined);
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
    return doubt(`The answer of the lookup of ${call.tool} could not be read: ${error.message}`);
  }
}

/**
 * A look-up only reads, so it is repeated while no answer arrives. An error in the tool's own answer leaves
 * the call in doubt.
 */
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
