import type { Logger } from "@planwright/runtime";
import pRetry from "p-retry";

/** What publishing needs. */
export interface NewestPublisherParts<Word> {
  /** Stores a word; called again until it succeeds. */
  write: (word: Word) => Promise<void>;
  /** Of what the words are, for the log: "catalogue". */
  what: string;
  logger: Logger;
}

/** Publishes what is known of each server. */
export interface NewestPublisher<Word> {
  /** Publishes a word on one server, again until the store has it; never rejects. The newest word on a server wins. */
  publish(word: Word): void;
  /** Resolves when everything said so far is published, or publishing is stopped. */
  published(): Promise<void>;
  stop(): void;
}

/** How long to wait between attempts, in milliseconds: the first and the longest wait. */
const RETRY_FROM_MS = 200;
const RETRY_UP_TO_MS = 5_000;

export function createNewestPublisher<Word extends { server: string }>({
  write,
  what,
  logger,
}: NewestPublisherParts<Word>): NewestPublisher<Word> {
  const newest = new Map<string, Word>();
  const stopping = new AbortController();
  /** One after the other, so that an older word of a server never overwrites a newer one. */
  let chain = Promise.resolve();

  async function writeNewest(server: string): Promise<void> {
    const publication = async (): Promise<void> => {
      const word = newest.get(server);
      if (!word) return;
      await write(word);
      if (newest.get(server) === word) newest.delete(server);
    };
    await pRetry(publication, {
      retries: Number.POSITIVE_INFINITY,
      minTimeout: RETRY_FROM_MS,
      maxTimeout: RETRY_UP_TO_MS,
      signal: stopping.signal,
      onFailedAttempt: ({ error }) =>
        logger.warn({ err: error, server }, `${what} not published; trying again`),
    });
  }

  return {
    publish(word) {
      const { server } = word;
      newest.set(server, word);
      chain = chain
        .then(() => writeNewest(server))
        .catch((error: unknown) => {
          if (!stopping.signal.aborted) logger.error({ err: error, server }, `${what} not published`);
        });
    },
    published: () => chain,
    stop: () => stopping.abort(),
  };
}
