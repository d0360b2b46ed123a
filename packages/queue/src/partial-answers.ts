/**
 * Answers of models while they arrive, for clients that watch a plan being drafted. They are in Redis or in
 * memory, since losing one loses nothing: the complete answer is stored in MongoDB when the call ends.
 *
 * 1. Writing never delays or fails a call of a model.
 * 2. A partial answer expires by itself, so that a planner that dies leaves none.
 */
import { setTimeout as wait } from "node:timers/promises";
import { connectFailFast } from "./connection.ts";

/** Shortest time between two writes for one call, in milliseconds. */
const WRITE_EVERY_MS = 250;
/** A partial answer without a write for this long expires, in seconds. */
const EXPIRES_AFTER_S = 60;
/** Longest partial answer, in characters: its beginning. */
export const MAX_PARTIAL_ANSWER = 65_536;

/** Where the partial answers are. */
interface PartialAnswersOptions {
  redisUrl: string;
  /** Prefix of the keys in Redis. */
  prefix: string;
}

/** The partial answer of one call. */
export interface PartialAnswer {
  /**
   * Takes all the text that has arrived so far. It writes every 250 ms at most, and the last text too; what it
   * writes while Redis does not answer is lost.
   */
  arrived(text: string): void;
}

/** Writes partial answers. */
export interface PartialAnswerWriter {
  open(callId: string): PartialAnswer;
  close(): void;
}

/** Reads partial answers. */
export interface PartialAnswerReader {
  /** Null when nothing has arrived lately, and while Redis does not answer. */
  read(callId: string): Promise<string | null>;
  close(): void;
}

const keyOf = (prefix: string, callId: string): string => `${prefix}:answer:${callId}`;

/**
 * Connects without waiting for Redis.
 * @param shownText - makes the text to show of the text that arrived, such as one without secrets
 */
export function createPartialAnswerWriter(
  { redisUrl, prefix }: PartialAnswersOptions,
  shownText: (text: string) => string,
): PartialAnswerWriter {
  const client = connectFailFast(redisUrl);
  const write = async (callId: string, text: string): Promise<void> => {
    await client.set(keyOf(prefix, callId), text, "EX", EXPIRES_AFTER_S).catch(() => undefined); // Invariant 1.
  };
  return { open: createOpen(write, shownText), close: () => client.disconnect() };
}

/** Opens the partial answers of calls, and limits how often they are written. */
function createOpen(
  write: (callId: string, text: string) => Promise<void>,
  shownText: (text: string) => string,
): PartialAnswerWriter["open"] {
  return (callId) => {
    let latest: string | undefined;
    let isWriting = false;
    const writeAll = async (): Promise<void> => {
      isWriting = true;
      while (latest !== undefined) {
        const text = shownText(latest.slice(0, MAX_PARTIAL_ANSWER));
        latest = undefined;
        await write(callId, text);
        await wait(WRITE_EVERY_MS, undefined, { ref: false });
      }
      isWriting = false;
    };
    return {
      arrived(text) {
        latest = text;
        if (!isWriting) void writeAll();
      },
    };
  };
}

/** Connects without waiting for Redis. */
export function createPartialAnswerReader({ redisUrl, prefix }: PartialAnswersOptions): PartialAnswerReader {
  const client = connectFailFast(redisUrl);
  return {
    read: (callId) => client.get(keyOf(prefix, callId)).catch(() => null),
    close: () => client.disconnect(),
  };
}

/** Partial answers in the memory of this process, for its own readers. */
export function createLocalPartialAnswers(): {
  writer(shownText: (text: string) => string): PartialAnswerWriter;
  reader(): PartialAnswerReader;
} {
  const answers = new Map<string, { text: string; expiry: NodeJS.Timeout }>();
  const write = async (callId: string, text: string): Promise<void> => {
    clearTimeout(answers.get(callId)?.expiry);
    const expiry = setTimeout(() => answers.delete(callId), EXPIRES_AFTER_S * 1_000).unref();
    answers.set(callId, { text, expiry });
  };
  const close = (): void => undefined;
  return {
    writer: (shownText) => ({ open: createOpen(write, shownText), close }),
    reader: () => ({ read: async (callId) => answers.get(callId)?.text ?? null, close }),
  };
}
