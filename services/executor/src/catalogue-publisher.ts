import type { Logger } from "@planwright/runtime";
import type { ExecutionStore } from "@planwright/store";
import type { ServerCatalogue } from "@planwright/tools";
import pRetry from "p-retry";

/** What publishing needs. */
export interface CataloguePublisherParts {
  store: Pick<ExecutionStore, "publishTools">;
  /** Called after each publication. */
  onPublished: () => void;
  logger: Logger;
}

/** Publishes what the servers of this process offer. */
export interface CataloguePublisher {
  /** Publishes one server's tools, again until the store has them; never rejects. The newest word on a server wins. */
  publish(catalogue: ServerCatalogue): void;
  /**
   * Resolves when everything said so far is published, or publishing is stopped. No plan is claimed before: one whose
   * tools are not in the catalogue yet would fail for tools that this very process has.
   */
  published(): Promise<void>;
  stop(): void;
}

/** How long to wait between attempts, in milliseconds: the first and the longest wait. */
const RETRY_FROM_MS = 200;
const RETRY_UP_TO_MS = 5_000;

export function createCataloguePublisher(parts: CataloguePublisherParts): CataloguePublisher {
  const { store, onPublished, logger } = parts;
  const newest = new Map<string, ServerCatalogue>();
  const stopping = new AbortController();
  /** One after the other, so that an older word of a server never overwrites a newer one. */
  let chain = Promise.resolve();

  async function write(server: string): Promise<void> {
    const publication = async (): Promise<void> => {
      const catalogue = newest.get(server);
      if (!catalogue) return;
      await store.publishTools(server, catalogue.tools);
      if (newest.get(server) === catalogue) newest.delete(server);
      onPublished();
    };
    await pRetry(publication, {
      retries: Number.POSITIVE_INFINITY,
      minTimeout: RETRY_FROM_MS,
      maxTimeout: RETRY_UP_TO_MS,
      signal: stopping.signal,
      onFailedAttempt: ({ error }) =>
        logger.warn({ err: error, server }, "catalogue not published; trying again"),
    });
  }

  return {
    publish(catalogue) {
      const { server } = catalogue;
      newest.set(server, catalogue);
      chain = chain
        .then(() => write(server))
        .catch((error: unknown) => {
          if (!stopping.signal.aborted) logger.error({ err: error, server }, "catalogue not published");
        });
    },
    published: () => chain,
    stop: () => stopping.abort(),
  };
}
