import { type Logger, redactText } from "@planwright/runtime";
import type { AskedReload, ExecutionStore, ServerReload } from "@planwright/store";
import type { Reload, ToolClients } from "@planwright/tools";

/** Dependencies of {@link createServerReloads}. */
export interface ServerReloadsParts {
  store: Pick<ExecutionStore, "readAskedReloads" | "reportReload">;
  tools: Pick<ToolClients, "reload">;
  /** Resolves when the tools that were listed so far are in the catalogue. */
  published: () => Promise<void>;
  /** The name of this process among the live workers. */
  executor: () => string;
  logger: Logger;
}

/** Reloads servers when an operator asks for it. */
export interface ServerReloads {
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
