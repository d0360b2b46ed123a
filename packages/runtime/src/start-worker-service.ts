import { z } from "zod";
import { logFactsOfId } from "./create-logger.ts";
import { MongodbUrlSchema, RedisUrlSchema } from "./parse-settings.ts";
import type { RoleParts } from "./run-roles.ts";
import {
  DeadAfterSchema,
  type Heartbeat,
  type HeartbeatOptions,
  type HeartbeatStore,
  startHeartbeat,
  workerAddressKey,
} from "./start-heartbeat.ts";
import { type Figures, registerSystemMetrics, type SystemMetricsParts } from "./system-metrics.ts";

/** The part of the store that the shell uses. */
type WorkerStore = HeartbeatStore & { readFigures(owner: string): Promise<Figures | null> };

/** Options of {@link createWorkerService}. */
export interface WorkerServiceOptions {
  /** Names the role in the list of workers. */
  kind: HeartbeatOptions["kind"];
  settings: WorkerSettings;
  /** Failpoints around the store. */
  storeFailpoints: Readonly<Record<string, string>>;
  /** Why the role is not ready yet: shown by `/readyz` until it takes work. */
  notReadyBecause: string;
}

/** A step of the shutdown, by name. */
type StopSteps = Readonly<Record<string, () => unknown>>;

/** The work of a role: its sources, and the steps that end it. */
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

/** The shell of a planner or executor that takes no work yet. */
export interface WorkerService<Store> {
  /** The store with its failpoints. */
  readonly store: Store;
  /** Logs an error of the queue. @param id - of the request or plan that the error is about */
  readonly report: (error: unknown, id?: string) => void;
  /**
   * Announces this worker to the others. @param onDead - called when other workers declared this one dead
   */
  startHeartbeat(options: Pick<HeartbeatOptions, "hasModel" | "onDead">): Promise<Heartbeat>;
  /**
   * Runs a task at an interval until the shutdown begins. A failure is reported, and the next run follows as
   * usual.
   */
  repeat(everyMs: number, task: () => Promise<unknown>): void;
  /** Defines the end of the role, which takes work now. @param facts - for the log line */
  ready(work: WorkParts, facts: object): void;
}

/** The shell of planner and executor: the store with failpoints, heartbeat, repeated tasks, metrics and end. */
export function createWorkerService<Store extends WorkerStore>(
  parts: RoleParts<Store, unknown>,
  { kind, settings, storeFailpoints, notReadyBecause }: WorkerServiceOptions,
): WorkerService<Store> {
  const { logger, store: database, stop } = parts;
  const store = parts.failpoints.around(database, storeFailpoints);
  const timers: NodeJS.Timeout[] = [];
  /** A sweeper that starts looks at once by itself. */
  let lookNow = (): void => undefined;
  parts.notReadyBecause(notReadyBecause);
  logger.info({ health: parts.healthUrl }, `${kind} starting`);

  /** A hint or a sweep has only the id. After the claim, log lines have requestId and planId. */
  function report(error: unknown, id?: string): void {
    logger.warn({ err: error, ...logFactsOfId(id) }, "queue error; the sweeper continues");
  }

  function addSteps(steps: StopSteps = {}): void {
    for (const [step, run] of Object.entries(steps)) stop.add(step, run);
  }

  return {
    store,
    report,
    startHeartbeat: ({ hasModel, onDead }) =>
      startHeartbeat({
        workers: store,
        name: parts.name,
        kind,
        hasModel,
        addressKey: workerAddressKey(parts.healthUrl),
        deadAfterMs: settings.DEAD_AFTER_MS,
        onDead,
        onTaken: () => lookNow(),
        logger,
      }),
    repeat(everyMs, task) {
      timers.push(setInterval(() => void task().catch(report), everyMs));
    },
    ready({ heartbeat, sweeper, stopFirst, handOver, stopLast, countWaiting }, facts) {
      const readFigures = parts.shareFigures(() => database.readFigures(heartbeat.owner()));
      registerSystemMetrics(parts.registry, { service: kind, countWaiting, readFigures });
      lookNow = () => sweeper.lookNow();
      stop.add("worker", () => heartbeat.retire());
      stop.add("timers", () => timers.forEach(clearInterval));
      addSteps(stopFirst);
      stop.add("sweeper", () => sweeper.stop());
      stop.add("work", () => handOver(settings.SHUTDOWN_TIMEOUT_MS));
      // After the work: this worker keeps its leases only while it sends heartbeats.
      stop.add("heartbeat", () => heartbeat.stop());
      addSteps(stopLast);
      logger.info({ health: parts.healthUrl, ...facts }, `${kind} ready`);
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
