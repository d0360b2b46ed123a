import type { Logger } from "@planwright/runtime";
import type { ExecutionStore } from "@planwright/store";
import type { ServerCatalogue } from "@planwright/tools";
import { createNewestPublisher, type NewestPublisher } from "./newest-publisher.ts";

/** What publishing needs. */
export interface CataloguePublisherParts {
  store: Pick<ExecutionStore, "publishTools">;
  /** Called after each publication. */
  onPublished: () => void;
  logger: Logger;
}

/**
 * Publishes what the servers of this process offer. No plan is claimed before what was said at the start is `published()`: one whose
 * tools are not in the catalogue yet would fail for tools that this very process has.
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
