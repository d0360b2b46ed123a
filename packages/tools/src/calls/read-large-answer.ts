/**
 * Reads a large message of a server: parses it, takes the answer of a call out of it, masks the secrets,
 * compares it with its schema, and writes the output as text.
 */
import {
  type JsonObject,
  JsonText,
  type JsonValue,
  LARGE_JSON_BYTES,
  readDeclaredOutput,
  shapeOfOutput,
  sharedUtf8,
  stringifyExactJson,
} from "@planwright/plan";
import { type CallTrace, createCallTrace, traceById } from "../connection/call-trace.ts";
import { UnreadableAnswerError } from "../connection/errors.ts";
import type {
  AnsweredCall,
  LargeAnswer,
  ReceivedAnswer,
  SentOutcome,
  SentOutput,
} from "../connection/large-answer.ts";
import { readMessages } from "../connection/wire-messages.ts";
import { createMasker } from "../masker.ts";
import { outcomeOfResult } from "./call-tool.ts";

/** Reads a message. Never throws because of what it says. */
export function readLargeAnswer(job: LargeAnswer): ReceivedAnswer {
  const { message, requestId, isShared, calls } = job;
  const text = typeof message === "string" ? message : Buffer.concat(message).toString("utf8");
  const traces = new Map<CallTrace, AnsweredCall>();
  for (const call of calls) {
    const trace = createCallTrace("");
    trace.requestId = call.requestId;
    traces.set(trace, call);
  }
  const outcomes: [string | number, SentOutcome][] = [];
  const errors: [string | number, JsonValue][] = [];
  try {
    const traceOf = (id: JsonValue | undefined) => traceById(traces.keys(), id);
    const { messages, isMended } = readMessages(text, { traceOf, requestId, isShared });
    for (const [{ answer }, call] of traces) {
      if (answer && "error" in answer) errors.push([call.requestId, answer.error]);
      if (answer && "result" in answer)
        outcomes.push([call.requestId, outcomeOfLarge(answer.result, call, job)]);
    }
    return { ok: true, messages, isMended, outcomes, errors };
  } catch (error) {
    if (error instanceof UnreadableAnswerError) return { ok: false, reason: error.facts.reason };
    throw error;
  }
}

function outcomeOfLarge(result: JsonValue, call: AnsweredCall, job: LargeAnswer): SentOutcome {
  const read = outcomeOfResult(result, call.ownName, job.maxOutputBytes);
  const outcome = createMasker(job.secrets).outcome(read);
  if (outcome.type === "failed") {
    const { data, ...error } = outcome.error;
    if (data === undefined || Buffer.byteLength(stringifyExactJson(data)) <= LARGE_JSON_BYTES)
      return { ...outcome, answer: undefined };
    // Larger data are never stored; only those of items decide anything.
    return { ...outcome, error, answer: call.isBatch ? sentOutput(data, call.outputSchema) : undefined };
  }
  if (outcome.type !== "completed" || outcome.output instanceof JsonText) return { type: "aborted" };
  return sentOutput(outcome.output, call.outputSchema, outcome);
}

/**
 * An output as it is sent by the thread that has read it: compared with the schema of its tool, and a large one as
 * its text.
 * @param read - the text of the output as the tool wrote it, and what is odd about it
 */
export function sentOutput(
  value: JsonValue,
  outputSchema: JsonObject | undefined,
  read: Pick<SentOutput, "text" | "warnings"> = {},
): SentOutput {
  const declared = readDeclaredOutput(outputSchema, value);
  const { output } = declared;
  const written = output === value ? read.text : undefined;
  const warnings = [...(read.warnings ?? []), ...declared.warnings];
  const text = typeof written === "string" ? written : stringifyExactJson(output);
  const sizeBytes = Buffer.byteLength(text);
  const isLarge = sizeBytes > LARGE_JSON_BYTES;
  return {
    type: "completed",
    // A text of the tool is held twice anyway, and as a string for both.
    output: isLarge
      ? { content: text === written ? text : sharedUtf8([text], sizeBytes), sizeBytes }
      : { value: output },
    text: written,
    ...(isLarge && { shape: shapeOfOutput(output) }),
    ...(warnings.length > 0 && { warnings }),
  };
}
