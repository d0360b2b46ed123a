import type { Logger } from "@planwright/runtime";
import type { ExecutionStore, ToolServerWord } from "@planwright/store";
import type { ServerConfig, ServerStatus } from "@planwright/tools";
import { createNewestPublisher } from "../newest-publisher.ts";
import { redactedWords } from "./redacted-words.ts";

/** What publishing needs. */
export interface ServerPublisherParts {
  store: Pick<ExecutionStore, "publishServer">;
  /** The servers file, by server. */
  servers: Readonly<Record<string, ServerConfig>>;
  /** Takes out secrets that plans have sent. */
  mask: { text(text: string): string };
  /** Names this process. */
  executor: string;
  logger: Logger;
}

/** Publishes where the connections of this process stand, for those who ask why a tool is not there. */
export function createServerPublisher({ store, servers, mask, executor, logger }: ServerPublisherParts): {
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
      const config = servers[status.server];
      if (!config || status.state === "closed") return;
      const { server, tools, error, lastWords, since, nextAttemptAt } = status;
      publisher.publish({
        server,
        state: stateOf(status),
        tools,
        error: error === undefined ? null : mask.text(error),
        lastWords: lastWords === undefined ? null : redactedWords(lastWords, config, mask),
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
