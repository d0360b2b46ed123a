import { Redis } from "ioredis";
import { reconnectDelay } from "../redis/reconnect-delay.ts";
import { type OnError, reportOnce } from "../redis/report-once.ts";

const MAX_RECONNECT_DELAY_MS = 500;
/** A server that does not answer for this time, in milliseconds, is disconnected and connected to again. */
const SILENCE_MS = 5_000;

/** A connection whose commands are answered soon or fail, because the caller waits for the answer. */
export interface LimitConnection {
  client: Redis;
  /** Identifies the run of the Redis server; undefined while there is no connection. */
  runId(): string | undefined;
  /** Called with each ticket that any process wakes. */
  onWake(listen: (ticket: string) => void): void;
  /** Called whenever the connection is open again and the run of the server is known. */
  onReady(listen: () => void): void;
  /** Asks for the run again, if the first query got no answer. */
  askAgain(): void;
  /** Closes after the answer to the last command, or its timeout. */
  close(): Promise<void>;
}

/** Connects without waiting for Redis, and again whenever the connection is lost. */
export function connectForLimits(options: {
  redisUrl: string;
  /** Channel on which tickets are woken. */
  channel: string;
  /** Timeout of a command, in milliseconds. */
  timeoutMs: number;
  onError: OnError;
}): LimitConnection {
  const { redisUrl, channel, timeoutMs } = options;
  const report = reportOnce(options.onError);
  const common = {
    retryStrategy: reconnectDelay(MAX_RECONNECT_DELAY_MS),
    reconnectOnError: (error: Error) => error.message.startsWith("READONLY"), // a failover made this one a replica
    keepAlive: 10_000,
    connectTimeout: 2_000,
  };
  const client = new Redis(redisUrl, {
    ...common,
    commandTimeout: timeoutMs,
    enableOfflineQueue: false,
    // After a lost connection commands are not sent again: they would be late.
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    socketTimeout: SILENCE_MS,
  });
  const subscriber = new Redis(redisUrl, { ...common, maxRetriesPerRequest: null });
  let runId: string | undefined;
  const ready: (() => void)[] = [];

  async function readRun(): Promise<void> {
    const info = await client.info("server");
    runId = /^run_id:(\S+)/m.exec(info)?.[1];
    for (const listen of ready) listen();
  }

  const startReading = (): void => void readRun().catch(report);
  client.on("ready", startReading);
  client.on("close", () => {
    runId = undefined;
  });
  client.on("error", report);
  subscriber.on("error", report);
  subscriber.subscribe(channel).catch(report);

  return {
    client,
    runId: () => runId,
    onWake: (listen) => void subscriber.on("message", (_channel, ticket) => listen(ticket)),
    onReady: (listen) => void ready.push(listen),
    askAgain() {
      if (client.status === "ready" && runId === undefined) startReading();
    },
    async close() {
      subscriber.disconnect();
      await client.quit().catch(() => undefined);
      client.disconnect();
    },
  };
}
