import { type Logger, redactText } from "@planwright/runtime";
import type { ExecutionStore, ToolServerReport } from "@planwright/store";
import type { ServerStatus } from "@planwright/tools";
import { createNewestPublisher } from "./newest-publisher.ts";

/** Dependencies of {@link createServerPublisher}. */
export interface ServerPublisherParts {
  store: Pick<ExecutionStore, "publishServer">;
  /** Names this process. */
  executor: string;
  logger: Logger;
}

/** Publishes the state of this process's connections, which explains why a tool is missing. */
export function createServerPublisher({ store, executor, logger }: ServerPublisherParts): {
  publish(status: ServerStatus): void;
  stop(): void;
} {
  const publisher = createNewestPublisher<ToolServerReport>({
    write: (state) => store.publishServer(state),
    what: "state of a tool server",
    logger,
  });
  return {
    publish(status) {
      if (status.state === "closed") return;
      const { server, tools, leftOut, leftOutCount, error, stderrTail, since, nextAttemptAt } = status;
      publisher.publish({
        server,
        state: stateOf(status),
        tools,
        ...(leftOut === undefined || leftOutCount === undefined ? {} : { leftOut, leftOutCount }),
        error: error ?? null,
        // Known secrets are masked already; a server may also print secrets that it has from other sources.
        stderrTail: stderrTail === undefined ? null : redactText(stderrTail),
        since: new Date(since),
        nextAttemptAt: nextAttemptAt === undefined ? null : new Date(nextAttemptAt),
        executor,
      });
    },
    stop: () => publisher.stop(),
  };
}

/** Between two attempts a server counts as unreachable, as it does while it waits for the next attempt. */
function stateOf({ state, error }: ServerStatus): ToolServerReport["state"] {
  if (state === "connected") return "connected";
  return state === "connecting" && error === undefined ? "connecting" : "unreachable";
}
