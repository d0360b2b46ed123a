import type { Registry } from "prom-client";
import { z } from "zod";
import { createFailpoints, type Failpoints } from "../failpoints/failpoints.ts";
import { createHealthServer } from "../health/health-server.ts";
import { createLogger, type Logger, logFactsOfId } from "../logging/create-logger.ts";
import { registerSystemMetrics, type SystemMetricsParts } from "../metrics/system-metrics.ts";
import { MongodbUrlSchema, RedisUrlSchema, readOrExit } from "../settings/parse-settings.ts";
import { createShutdown } from "../shutdown/create-shutdown.ts";
import { startTracing } from "../tracing/start-tracing.ts";
import type { Traces } from "../tracing/traces.ts";
import {
  DeadAfterSchema,
  type Heartbeat,
  type HeartbeatOptions,
  type HeartbeatStore,
  startHeartbeat,
  workerAddressKey,
  workerName,
} from "../workers/start-heartbeat.ts";

/** The part of the store that the shell uses. */
type ServiceStore = HeartbeatStore & {
  ping(): Promise<unknown>;
  close(): Promise<void>;
  readFigures(owner: string): ReturnType<SystemMetricsParts["readFigures"]>;
};

/** The names of the failpoints of one port, by method. */
type PortFailpoints = Readonly<Record<string, string>>;

/** Options of {@link startWorkerService}. */
export interface WorkerServiceOptions<Store> {
  /** Names the service in logs, metrics, traces and the list of workers. */
  kind: HeartbeatOptions["kind"];
  settings: WorkerSettings;
  /** Served at `/metrics`. */
  registry: Registry;
  /** Opens the store. A CodedError that it throws ends the process with exit code 1. */
  openStore: () => Store | Promise<Store>;
  /** Failpoints around the store, and those of the other ports of the service. */
  failpoints: { store: PortFailpoints; others: readonly PortFailpoints[] };
  /** Why the service is not ready yet: shown by `/readyz` until the service takes work. */
  notReadyBecause: string;
}

/** A step of the shutdown, by name. */
type StopSteps = Readonly<Record<string, () => unknown>>;

/** The work of a service: its sources, and the steps that end it. */
export interface WorkParts extends Pick<SystemMetricsParts, "countWaiting"> {
  heartbeat: Heartbeat;
  /** Finds in MongoDB the work that the queue lost. */
  sweeper: { lookNow(): void; stop(): Promise<void> };
  /** Steps of the shutdown that come before the work is handed over, in this order. */
  stopFirst?: StopSteps;
  /** Ends the work in progress, or hands it over to other workers, within `timeoutMs`. */
  handOver: (timeoutMs: number) => Promise<void>;
  /**
   * Steps of the shutdown that come after that, in this order: the queue, and other parts with connections.
   */
  stopLast: StopSteps;
}

/** A worker service that serves its health and takes no work yet. */
export interface WorkerService<Store> {
  /** Names this process. No other process ever had this name. */
  readonly name: string;
  readonly logger: Logger;
  /** Undefined while tracing is not configured. */
  readonly traces: Traces | undefined;
  readonly failpoints: Failpoints;
  /** The store with its failpoints. */
  readonly store: Store;
  /** The store without failpoints, for readers that change nothing, such as gauges. */
  readonly database: Store;
  /** Logs an error of the queue. @param id - of the request or plan that the error is about */
  readonly report: (error: unknown, id?: string) => void;
  /** Changes the reason that `/readyz` shows. */
  notReadyBecause(reason: string): void;
  /**
   * Announces this process to the other workers. @param onDead - called when other workers declared this
   * process dead
   */
  startHeartbeat(options: Pick<HeartbeatOptions, "hasModel" | "onDead">): Promise<Heartbeat>;
  /**
   * Runs a task at an interval until the shutdown begins. A failure is reported, and the next run follows as
   * usual.
   */
  repeat(everyMs: number, task: () => Promise<unknown>): void;
  /** Makes the service ready, and defines its shutdown. @param facts - for the log line */
  ready(work: WorkParts, facts: object): void;
}

/** How much longer the complete shutdown may take than the end of the work, in milliseconds. */
const SHUTDOWN_MARGIN_MS = 5_000;

/** The shell of a worker service: logs, traces, failpoints, the store, health, heartbeat and shutdown. */
export async function startWorkerService<Store extends ServiceStore>(
  options: WorkerServiceOptions<Store>,
): Promise<WorkerService<Store>> {
  const { kind, settings, registry } = options;
  const logger = createLogger({ service: kind, level: settings.LOG_LEVEL });
  const shutdownMs = settings.SHUTDOWN_TIMEOUT_MS + SHUTDOWN_MARGIN_MS;
  const shutdown = createShutdown({ logger, timeoutMs: shutdownMs });
  const name = workerName();
  const tracing = await readOrExit(
    () => startTracing({ service: kind, instance: name, env: process.env, logger }),
    process,
  );
  const places = options.failpoints;
  const failpoints = createFailpoints(settings.FAILPOINT, places.store, ...places.others);
  const database = await readOrExit(options.openStore, process);
  const store = failpoints.around(database, places.store);
  const timers: NodeJS.Timeout[] = [];
  let notReady: string | null = options.notReadyBecause;
  /** A sweeper that starts looks at once by itself. */
  let lookNow = (): void => undefined;
  const health = await createHealthServer({
    host: settings.HOST,
    port: settings.HEALTH_PORT,
    checks: {
      mongodb: () => store.ping(),
      start: async () => {
        if (notReady !== null) throw new Error(notReady);
      },
    },
    metrics: registry,
    stopping: shutdown.signal,
  });
  logger.info({ health: health.url }, `${kind} starting`);

  /** A hint or a sweep has only the id. After the claim, log lines have requestId and planId. */
  function report(error: unknown, id?: string): void {
    logger.warn({ err: error, ...logFactsOfId(id) }, "queue error; the sweeper continues");
  }

  function addSteps(steps: StopSteps = {}): void {
    for (const [step, stop] of Object.entries(steps)) shutdown.add(step, stop);
  }

  return {
    name,
    logger,
    traces: tracing.traces,
    failpoints,
    store,
    database,
    report,
    notReadyBecause(reason) {
      notReady = reason;
    },
    startHeartbeat: ({ hasModel, onDead }) =>
      startHeartbeat({
        workers: store,
        name,
        kind,
        hasModel,
        addressKey: workerAddressKey(health.url),
        deadAfterMs: settings.DEAD_AFTER_MS,
        onDead,
        onTaken: () => lookNow(),
        logger,
      }),
    repeat(everyMs, task) {
      timers.push(setInterval(() => void task().catch(report), everyMs));
    },
    ready({ heartbeat, sweeper, stopFirst, handOver, stopLast, countWaiting }, facts) {
      const readFigures = () => database.readFigures(heartbeat.owner());
      registerSystemMetrics(registry, { service: kind, countWaiting, readFigures });
      notReady = null;
      lookNow = () => sweeper.lookNow();
      shutdown.add("worker", () => heartbeat.retire());
      shutdown.add("timers", () => timers.forEach(clearInterval));
      addSteps(stopFirst);
      shutdown.add("sweeper", () => sweeper.stop());
      shutdown.add("work", () => handOver(settings.SHUTDOWN_TIMEOUT_MS));
      // After the work: this process keeps its leases only while it sends heartbeats.
      shutdown.add("heartbeat", () => heartbeat.stop());
      addSteps(stopLast);
      shutdown.add("health", () => health.close());
      shutdown.add("store", () => store.close());
      shutdown.add("traces", () => tracing.stop());
      logger.info({ health: health.url, ...facts }, `${kind} ready`);
    },
  };
}

/** The settings that every worker service has. HEALTH_PORT is separate, because its default differs. */
export const WORKER_SETTINGS = {
  MONGODB_URL: MongodbUrlSchema,
  REDIS_URL: RedisUrlSchema,
  QUEUE_PREFIX: z.string().min(1).max(100).default("planwright"),
  HOST: z.string().min(1).default("127.0.0.1"),
  LOG_LEVEL: z.enum(["fatal", "error", "warn", "info", "debug", "trace"]).default("info"),
  /**
   * Time without a heartbeat after which other workers declare this process dead and take over its work, in
   * milliseconds.
   */
  DEAD_AFTER_MS: DeadAfterSchema,
  /** How often MongoDB is searched for work that the queue lost, in milliseconds. */
  SWEEP_EVERY_MS: z.coerce.number().int().min(100).max(60_000).default(1_000),
  /** The place where this process dies, freezes or fails on purpose; for tests. */
  FAILPOINT: z.string().max(200).optional(),
  /**
   * How long work in progress may continue after SIGTERM, in milliseconds. Then other workers take over the
   * rest.
   */
  SHUTDOWN_TIMEOUT_MS: z.coerce.number().int().min(100).max(600_000).default(25_000),
};

/** The settings of a worker service that its shell reads. */
export type WorkerSettings = z.output<z.ZodObject<typeof WORKER_SETTINGS>> & { HEALTH_PORT: number };
