import type { ExecutionResult } from "graphql";
import { AnswerTooLargeError } from "../errors/input-errors.ts";
import { LIGHT_ANSWER_BYTES } from "../load/answer-bytes.ts";
import type { Grant } from "../load/byte-budget.ts";
import { jsonBytes, stringifyInSlices } from "../load/json-bytes.ts";
import type { GraphqlContext } from "../operation/context.ts";
import type { Subscribe } from "./observed-subscribe.ts";
import { failedResult, resultsIterator } from "./results-iterator.ts";

/**
 * JSON texts of large results. The libraries of the protocols make the text of a message by JSON.stringify, which
 * blocks the process for as long as the message is large: they get a mark in place of the data of a large result,
 * and the text replaces the mark when the message is written.
 */
export interface MadeTexts {
  /** Keeps a text. @returns what stands for it in a result, and a function that forgets the text */
  keep: (text: string) => { mark: string; forget: () => void };
  /** A message with the kept text in place of its mark. */
  fill: (message: string) => string;
}

/** No texts yet. */
export function createMadeTexts(): MadeTexts {
  // What clients and tools write cannot contain it.
  const prefix = crypto.randomUUID();
  const texts = new Map<string, string>();
  let count = 0;
  return {
    keep(text) {
      count += 1;
      const mark = `${prefix}:${count}`;
      texts.set(mark, text);
      return { mark, forget: () => void texts.delete(mark) };
    },
    fill(message) {
      const start = texts.size === 0 ? -1 : message.indexOf(`"${prefix}:`);
      if (start === -1) return message;
      const end = message.indexOf('"', start + 1);
      const text = texts.get(message.slice(start + 1, end));
      return text === undefined ? message : message.slice(0, start) + text + message.slice(end + 1);
    },
  };
}

/**
 * Keeps the results of subscriptions within the limits of answers. A large result waits for a grant of the
 * budget, and its text is made in slices, once for all its readers; meanwhile newer states replace the next
 * result. The grant is released when the next result is requested: by then this one was sent.
 */
export function boundSubscribe(subscribe: Subscribe, texts: Pick<MadeTexts, "keep">): Subscribe {
  /** By the data of results, which readers of the same state share; as long as its maker sends it. */
  const made = new WeakMap<object, Promise<string>>();

  return async (args) => {
    const results = await subscribe(args);
    if (!(Symbol.asyncIterator in results)) return results;
    const { bytes, tenant } = args.contextValue as GraphqlContext;
    const { limits } = bytes;
    const { maxBytes, budget } = limits;
    const disconnected = new AbortController();
    let grant: Grant | undefined;
    let forgetText = (): void => undefined;
    const release = (): void => {
      grant?.release();
      grant = undefined;
      forgetText();
      forgetText = () => undefined;
    };

    const hold = async (sizeBytes: number): Promise<void> => {
      const request = { tenant, bytes: sizeBytes, hasNoTimeout: true, signal: disconnected.signal };
      grant = await budget.acquire(request);
    };

    /** The text of the data, under a grant of its size. @throws {AnswerTooLargeError} */
    async function textOf(data: object): Promise<string> {
      const known = made.get(data);
      if (known) {
        const text = await known;
        await hold(Buffer.byteLength(text));
        return text;
      }
      // Its size is not known before it is made: to measure it would block the process too.
      await hold(maxBytes);
      const making = stringifyInSlices(data, limits);
      made.set(data, making);
      forgetText = () => void made.delete(data);
      const text = await making;
      grant?.shrink(Buffer.byteLength(text));
      return text;
    }

    /** A large result with a mark in place of its data. @throws {AnswerTooLargeError} */
    async function marked({ data, ...rest }: ExecutionResult): Promise<ExecutionResult> {
      if (jsonBytes(rest.errors ?? null, maxBytes) > maxBytes) throw new AnswerTooLargeError(maxBytes);
      if (!data) return rest;
      const { mark, forget } = texts.keep(await textOf(data));
      const forgetMade = forgetText;
      forgetText = () => {
        forgetMade();
        forget();
      };
      if (disconnected.signal.aborted) release();
      return { ...rest, data: mark as unknown as Record<string, unknown> };
    }

    return resultsIterator(
      async () => {
        release();
        const next = await results.next();
        if (next.done || jsonBytes(next.value, LIGHT_ANSWER_BYTES) <= LIGHT_ANSWER_BYTES) return next;
        try {
          return { done: false, value: await marked(next.value) };
        } catch (error) {
          release();
          if (error instanceof AnswerTooLargeError) return { done: false, value: failedResult(error) };
          throw error;
        }
      },
      async () => {
        disconnected.abort();
        release();
        await results.return?.();
      },
    );
  };
}
