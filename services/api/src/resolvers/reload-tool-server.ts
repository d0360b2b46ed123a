import { setTimeout as delay } from "node:timers/promises";
import type { Fleet, ServerReload } from "@planwright/store";
import { ToolServerNotFoundError } from "../errors/not-found-errors.ts";
import { NoExecutorError } from "../errors/service-errors.ts";
import type { GraphqlContext } from "../operation/context.ts";
import { parseWait, type WaitInput } from "../requests/wait-for-end.ts";

/** Arguments of the mutation reloadToolServer. */
export interface ReloadInput extends WaitInput {
  name: string;
}

/** How one executor reloaded a server. */
export interface ExecutorReloadView extends Pick<ServerReload, "executor" | "reason" | "stderrTail"> {
  outcome: Uppercase<ServerReload["outcome"]> | "PENDING";
}

const READ_EVERY_MS = 200;
const OUTCOMES = { reloaded: "RELOADED", kept: "KEPT", unknown: "UNKNOWN" } as const;

/**
 * Asks every executor to connect to a tool server anew, and waits for them.
 * @throws {BadInputError | ToolServerNotFoundError | NoExecutorError}
 */
export async function reloadToolServer(
  context: GraphqlContext,
  { name, ...input }: ReloadInput,
): Promise<{ name: string; executors: ExecutorReloadView[] }> {
  const { store, signal, by } = context;
  const waitMs = parseWait(input);
  const servers = await store.toolServers();
  if (!servers.some(({ server }) => server === name)) throw new ToolServerNotFoundError(name);
  if (executorsOf(await context.readFleet()).length === 0) throw new NoExecutorError(name);
  const asked = await store.askReload(name, by);
  if (!asked) throw new ToolServerNotFoundError(name);
  context.releaseSlot?.();
  const endsAt = performance.now() + waitMs;
  for (;;) {
    const [fleet, reported] = await Promise.all([context.readFleet(), store.toolServers()]);
    const reloads = reported.find(({ server }) => server === name)?.reloads ?? [];
    // An executor that started later has a new connection anyway.
    const executors = executorsOf(fleet)
      .filter(({ startedAt }) => startedAt <= asked.askedAt)
      .map(({ name: executor }) => viewOf(executor, reloads, asked.askedAt));
    const isOver = executors.every(({ outcome }) => outcome !== "PENDING");
    if (isOver || signal?.aborted || performance.now() >= endsAt) return { name, executors };
    await delay(READ_EVERY_MS);
  }
}

function executorsOf({ workers }: Fleet): Fleet["workers"] {
  return workers.filter(({ kind, takesWork }) => kind === "executor" && takesWork);
}

function viewOf(executor: string, reloads: readonly ServerReload[], askedAt: Date): ExecutorReloadView {
  const done = reloads.find((each) => each.executor === executor && each.askedAt >= askedAt);
  if (!done) return { executor, outcome: "PENDING", reason: null, stderrTail: null };
  const { outcome, reason, stderrTail } = done;
  return { executor, outcome: OUTCOMES[outcome], reason, stderrTail };
}
