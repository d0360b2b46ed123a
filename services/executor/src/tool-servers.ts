import type { ToolDescriptor } from "@planwright/plan";
import { type Logger, redactText } from "@planwright/runtime";
import type {
  AskedReload,
  ExecutionStore,
  PlanningStore,
  ServerReload,
  ToolServerReport,
} from "@planwright/store";
import type { Reload, ServerCatalogue, ServerStatus, ToolClients } from "@planwright/tools";
import pRetry from "p-retry";

/** Dependencies of {@link createNewestPublisher}. */
interface NewestPublisherParts<State> {
  /** Stores a state; called again until it succeeds. */
  write: (state: State) => Promise<void>;
  /** What the states describe, for the log: "catalogue". */
  what: string;
  logger: Logger;
}

/** Publishes the state of each server. */
interface NewestPublisher<State> {
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

/** A publisher of one kind of state; nothing is published yet. */
function createNewestPublisher<State extends { server: string }>({
  write,
  what,
  logger,
}: NewestPublisherParts<State>): NewestPublisher<State> {
  const newest = new Map<string, State>();
  const stopping = new AbortController();
  /** By server: one after the other, so that an older state never overwrites a newer one. */
  const chains = new Map<string, Promise<void>>();

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
      const written = (chains.get(server) ?? Promise.resolve())
        .then(() => writeNewest(server))
        .catch((error: unknown) => {
          if (!stopping.signal.aborted) logger.error({ err: error, server }, `${what} not published`);
        });
      chains.set(server, written);
    },
    published: async () => void (await Promise.all(chains.values())),
    stop: () => stopping.abort(),
  };
}

/** Dependencies of {@link createCataloguePublisher}. */
interface CataloguePublisherParts {
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
export function createCataloguePublisher({
  store,
  onPublished,
  logger,
}: CataloguePublisherParts): NewestPublisher<ServerCatalogue> {
  return createNewestPublisher({
    async write({ server, tools }) {
      await store.publishTools(server, tools);
      onPublished();
    },
    what: "catalogue",
    logger,
  });
}

/** Dependencies of {@link createServerPublisher}. */
interface ServerPublisherParts {
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

/** How long a catalogue may be cached, in milliseconds. */
const FRESH_MS = 5_000;

/**
 * The published catalogue, read at most every five seconds. It includes the tools of servers that cannot be
 * reached at the moment, so that a plan fails with "unreachable, try again" and not with "unknown tool".
 */
export function createCatalogueReader(store: Pick<PlanningStore, "toolCatalogue">): {
  read: () => Promise<readonly ToolDescriptor[]>;
  /** Makes the next read ask the store. */
  forget: () => void;
} {
  let cached: Promise<readonly ToolDescriptor[]> | null = null;
  let readAt = Number.NEGATIVE_INFINITY;
  return {
    read() {
      if (cached === null || performance.now() - readAt > FRESH_MS) {
        readAt = performance.now();
        const reading = store.toolCatalogue();
        cached = reading;
        reading.catch(() => {
          if (cached === reading) cached = null;
        });
      }
      return cached;
    },
    forget() {
      cached = null;
    },
  };
}

/** Dependencies of {@link createServerReloads}. */
interface ServerReloadsParts {
  store: Pick<ExecutionStore, "readAskedReloads" | "reportReload">;
  tools: Pick<ToolClients, "reload">;
  /** Resolves when the tools that were listed so far are in the catalogue. */
  published: () => Promise<void>;
  /** The name of this process among the live workers. */
  executor: () => string;
  logger: Logger;
}

/** Reloads servers when an operator asks for it. */
interface ServerReloads {
  /** Begins the reloads that were asked for since the last check. One check at a time. */
  check(): Promise<void>;
}

/** @param before - requests of an earlier time: a process that starts has new connections */
export function createServerReloads(
  { store, tools, published, executor, logger }: ServerReloadsParts,
  before: readonly AskedReload[],
): ServerReloads {
  const seen = new Map(before.map(({ server, askedAt }) => [server, askedAt.getTime()]));
  let isChecking = false;

  async function reload({ server, askedAt }: AskedReload): Promise<void> {
    const done = await tools.reload(server);
    await published();
    logger.info({ server, outcome: done.type }, "reload of a tool server");
    await store.reportReload(server, { executor: executor(), askedAt, ...reportOf(done) });
  }

  return {
    async check() {
      if (isChecking) return;
      isChecking = true;
      try {
        for (const asked of await store.readAskedReloads()) {
          const { server, askedAt } = asked;
          if ((seen.get(server) ?? 0) >= askedAt.getTime()) continue;
          seen.set(server, askedAt.getTime());
          reload(asked).catch((error: unknown) => logger.warn({ err: error, server }, "reload not reported"));
        }
      } finally {
        isChecking = false;
      }
    },
  };
}

function reportOf(done: Reload): Pick<ServerReload, "outcome" | "reason" | "stderrTail"> {
  if (done.type !== "kept") return { outcome: done.type, reason: null, stderrTail: null };
  const stderrTail = done.stderrTail === "" ? null : redactText(done.stderrTail);
  return { outcome: "kept", reason: done.reason, stderrTail };
}
