import type { Logger } from "@planwright/runtime";
import pRetry from "p-retry";

/** Dependencies of {@link createNewestPublisher}. */
export interface NewestPublisherParts<State> {
  /** Stores a state; called again until it succeeds. */
  write: (state: State) => Promise<void>;
  /** What the states describe, for the log: "catalogue". */
  what: string;
  logger: Logger;
}

/** Publishes the state of each server. */
export interface NewestPublisher<State> {
  /**
   * Publishes the state of one server and retries until the store has it; never rejects. A newer state of a
   * server replaces an older one that is not published yet.
   */
  publish(state: State): void;
  /** Resolves when all states so far are published, or publishing is stopped. */
  published(): Promise<void>;
  stop(): void;
}

/** First and longest wait between attempts, in milliseconds. */
const RETRY_FROM_MS = 200;
const RETRY_UP_TO_MS = 5_000;

export function createNewestPublisher<State extends { server: string }>({
  write,
  what,
  logger,
}: NewestPublisherParts<State>): NewestPublisher<State> {
  const newest = new Map<string, State>();
  const stopping = new AbortController();
  /** One after the other, so that an older state of a server never overwrites a newer one. */
  let chain = Promise.resolve();

  async function writeNewest(server: string): Promise<void> {
    const publication = async (): Promise<void> => {
      const state = newest.get(server);
      if (!state) return;
      await write(state);
      if (newest.get(server) === state) newest.delete(server);
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
    publish(state) {
      const { server } = state;
      newest.set(server, state);
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
