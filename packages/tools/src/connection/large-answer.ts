/**
 * Reading a large message takes seconds for many fields, so it is a job that another thread can do: what it
 * gets and what comes of it are plain data.
 */
import type { Outcome } from "@planwright/engine";
import { heldOfSent, type JsonObject, type JsonValue, type SentJson } from "@planwright/plan";
import type { WireMessages } from "./wire-messages.ts";

/** A call that a message may answer. */
export interface AnsweredCall {
  requestId: string | number;
  /** The name of the tool on its server. */
  ownName: string;
  outputSchema: JsonObject | undefined;
  /** The tool takes several items: what it answers beside an error says which of them acted. */
  isBatch: boolean;
}

/** A text, or its UTF-8 in the pieces in which it came: to join them on the event loop would block it. */
export type LargeMessage = string | readonly Uint8Array[];

/** The first bytes of pieces, without joining the others. */
export function beginningOf(pieces: readonly Uint8Array[], bytes: number): Buffer {
  const few: Uint8Array[] = [];
  let size = 0;
  for (const piece of pieces) {
    if (size >= bytes) break;
    few.push(piece);
    size += piece.byteLength;
  }
  return Buffer.concat(few).subarray(0, bytes);
}

/** A message of more than 256 KiB, and what is known about it. */
export interface LargeAnswer {
  message: LargeMessage;
  /** The only request that it can answer, if there is only one. */
  requestId: string | number | undefined;
  /** True where all requests share a stream. */
  isShared: boolean;
  calls: readonly AnsweredCall[];
  /** Values to be masked. */
  secrets: readonly string[];
  maxOutputBytes: number;
}

type Completed = Extract<Outcome, { type: "completed" }>;
type Failed = Extract<Outcome, { type: "failed" }>;

/** A completed outcome in a form that can be sent to another thread. */
export type SentOutput = Omit<Completed, "output"> & { output: SentJson };

/** An outcome with outputs in this form. */
export type SentOutcome =
  | Exclude<Outcome, Completed | Failed>
  | SentOutput
  | (Omit<Failed, "answer"> & { answer: SentOutput | undefined });

/** What a large message says. */
export type ReceivedAnswer =
  | {
      ok: true;
      /** The messages for the SDK: answers of calls are empty. */
      messages: JsonObject[];
      isMended: boolean;
      outcomes: [requestId: string | number, outcome: SentOutcome][];
      /** Answers that are JSON-RPC errors. */
      errors: [requestId: string | number, error: JsonValue][];
    }
  | { ok: false; reason: string };

/** Reads a large message. Rejects when it could not be read for a reason that is not in the message. */
export type ReadLargeAnswer = (job: LargeAnswer) => Promise<ReceivedAnswer>;

/**
 * Reads a large message of a session, and puts answers of calls into their traces.
 * @throws {UnreadableAnswerError} like `readMessages`
 */
export type ReadLargeMessages = (
  message: LargeMessage,
  reading: Pick<LargeAnswer, "requestId" | "isShared">,
) => Promise<WireMessages>;

/** The outcome that was sent by another thread. */
export function outcomeOfSent(sent: SentOutcome): Outcome {
  if (sent.type === "failed") {
    const { answer, ...failed } = sent;
    return answer ? { ...failed, answer: completedOfSent(answer) } : failed;
  }
  return sent.type === "completed" ? completedOfSent(sent) : sent;
}

/** The same for an output. */
export function completedOfSent(sent: SentOutput): Completed {
  return { ...sent, output: heldOfSent(sent.output) };
}
