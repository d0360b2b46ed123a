import type { Logger } from "@planwright/runtime";
import type { ExecutionStore } from "@planwright/store";
import type { ServerCatalogue } from "@planwright/tools";
import { createNewestPublisher, type NewestPublisher } from "./newest-publisher.ts";

/** Dependencies of {@link createCataloguePublisher}. */
export interface CataloguePublisherParts {
  store: Pick<ExecutionStore, "publishTools">;
  /** Called after each publication. */
  onPublished: () => void;
  logger: Logger;
}

/**
 * Publishes the tools that the servers of this process offer. No plan is claimed before the first catalogue
 * is `published()`: a plan whose tools are not in the catalogue yet would fail, although this process has
 * these tools.
 */
export type CataloguePublisher = NewestPublisher<ServerCatalogue>;

export function createCataloguePublisher({
  store,
  onPublished,
  logger,
}: CataloguePublisherParts): CataloguePublisher {
  return createNewestPublisher({
    async write({ server, tools }) {
      await store.publishTools(server, tools);
      onPublished();
    },
    what: "catalogue",
    logger,
  });
}
