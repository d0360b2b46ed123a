import { setTimeout as delay } from "node:timers/promises";
import { createClient, graphql, type ResultOf } from "@planwright/client";
import { lastLines } from "../children/log-tail.ts";
import { ProcessNotReadyError } from "../errors.ts";
import { persistently } from "./persistently.ts";

/** Longest wait for the blog tools, which are part of the system, in milliseconds. */
const BLOG_TIMEOUT_MS = 30_000;
/**
 * Longest wait for other servers, in milliseconds: a slow or dead one delays the start no longer. An executor
 * waits as long for them before it is ready.
 */
const SERVERS_TIMEOUT_MS = 5_000;
/** After the executor is ready, its states of the servers are published within this time, in milliseconds. */
const PUBLISHED_MS = 500;
const BETWEEN_READS_MS = 50;

const QUERY = graphql(`{ getAvailableTools { server } toolServers { name state tools since } }`);
type Answer = ResultOf<typeof QUERY>;

/** The tools to wait for. */
export interface AwaitedTools {
  /** Names of all servers that the executor connects to. */
  servers: readonly string[];
  /** When the executor was started, in Unix milliseconds: older states of servers are from an earlier run. */
  startedAt: number;
  /** Longest wait for servers other than the blog tools, from `startedAt`, in milliseconds. Default 5,000. */
  serversTimeoutMs?: number | undefined;
  /** The log file of the executor. */
  logFile: string;
  say: (line: string) => void;
}

/**
 * Waits until every server has published its tools or cannot be reached. The executor becomes ready while
 * slow servers are still starting. A server that takes longer is named, and the start continues.
 * @throws {ProcessNotReadyError} when the blog tools are not published, with the executor's last log lines
 */
export async function waitForTools(
  { apiUrl, apiKey }: { apiUrl: string; apiKey: string | undefined },
  { servers, startedAt, serversTimeoutMs = SERVERS_TIMEOUT_MS, logFile, say }: AwaitedTools,
): Promise<void> {
  const client = createClient({ url: apiUrl, token: apiKey });
  const begunAt = performance.now();
  let isWaitReported = false;
  for (;;) {
    const answer = await persistently(() => client.execute(QUERY, {}));
    const waitedMs = performance.now() - begunAt;
    if (hasTools(answer, "blog")) {
      const missing = servers.filter((name) => !isSettled(answer, name, startedAt));
      if (missing.length === 0) return;
      const names = missing.join(", ");
      if (Date.now() - startedAt > serversTimeoutMs && waitedMs > PUBLISHED_MS) {
        say(`No tools yet of: ${names}. Plans can use them as soon as they are published.`);
        return;
      }
      if (!isWaitReported)
        say(`Waiting at most ${serversTimeoutMs / 1_000} s for the tools of: ${names} ...`);
      isWaitReported = true;
    } else if (waitedMs > BLOG_TIMEOUT_MS) {
      const reason = `did not publish the tools of the blog server within ${BLOG_TIMEOUT_MS / 1_000} s`;
      throw new ProcessNotReadyError({ name: "executor", reason, logFile }, lastLines(logFile));
    }
    await delay(BETWEEN_READS_MS);
  }
}

function hasTools({ getAvailableTools }: Answer, name: string): boolean {
  return getAvailableTools.some(({ server }) => server === name);
}

/**
 * True if the server's tools are published (shortly after it connects), or it has none, or cannot be reached.
 */
function isSettled(answer: Answer, name: string, startedAt: number): boolean {
  const server = answer.toolServers.find((one) => one.name === name);
  if (!server || Date.parse(server.since) < startedAt || server.state === "CONNECTING") return false;
  return server.state !== "CONNECTED" || server.tools === 0 || hasTools(answer, name);
}
