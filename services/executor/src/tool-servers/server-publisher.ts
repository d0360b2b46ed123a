import { type Logger, redactText } from "@planwright/runtime";
import type { ExecutionStore, ToolServerWord } from "@planwright/store";
import type { ServerStatus } from "@planwright/tools";
import { createNewestPublisher } from "./newest-publisher.ts";

/** What publishing needs. */
export interface ServerPublisherParts {
  store: Pick<ExecutionStore, "publishServer">;
  /** Names this process. */
  executor: string;
  logger: Logger;
}

/** Publishes where the connections of this process stand, for those who ask why a tool is not there. */
export function createServerPublisher({ store, executor, logger }: ServerPublisherParts): {
  publish(status: ServerStatus): void;
  stop(): void;
} {
  const publisher = createNewestPublisher<ToolServerWord>({
    write: (word) => store.publishServer(word),
    what: "state of a tool server",
    logger,
  });
  return {
    publish(status) {
      if (status.state === "closed") return;
      const { server, tools, error, lastWords, since, nextAttemptAt } = status;
      publisher.publish({
        server,
        state: stateOf(status),
        tools,
        error: error ?? null,
        // What is known to be secret is gone; a server may also print what it has from elsewhere.
        lastWords: lastWords === undefined ? null : redactText(lastWords),
        since: new Date(since),
        nextAttemptAt: nextAttemptAt === undefined ? null : new Date(nextAttemptAt),
        executor,
      });
    },
    stop: () => publisher.stop(),
  };
}

/** Between two attempts it is as unreachable as while the next one is waited for. */
function stateOf({ state, error }: ServerStatus): ToolServerWord["state"] {
  if (state === "connected") return "connected";
  return state === "connecting" && error === undefined ? "connecting" : "unreachable";
}
