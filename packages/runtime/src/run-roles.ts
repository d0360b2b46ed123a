import type { DestinationStream } from "pino";
import type { Registry } from "prom-client";
import { createLogger, type Logger, logFactsOfId } from "./create-logger.ts";
import { createJournalMetrics, createMetrics, type JournalCounters } from "./create-metrics.ts";
import {
  createShutdown,
  createStopSteps,
  type Shutdown,
  type ShutdownOptions,
  type StopSteps,
} from "./create-shutdown.ts";
import { createFailpoints, type Failpoints } from "./failpoints.ts";
import { createHealthServer } from "./health-server.ts";
import { readOrExit } from "./parse-settings.ts";
import { workerName } from "./start-heartbeat.ts";
import { startTracing } from "./start-tracing.ts";
import type { SystemMetricsParts } from "./system-metrics.ts";
import type { Traces } from "./traces.ts";

/** The settings that every role reads; roles of one process read them from the same environment. */
interface RoleSettings {
  MONGODB_URL: string;
  /** "" in a process that works alone, without Redis. */
  REDIS_URL: string;
  QUEUE_PREFIX: string;
  HOST: string;
  /** Absent in a role that serves its health itself. */
  HEALTH_PORT?: number;
  LOG_LEVEL: string;
  FAILPOINT?: string | undefined;
  SHUTDOWN_TIMEOUT_MS: number;
}

/** A role of a process, with its settings. */
export interface Role<Store, Queues, StoreOptions> {
  /** Names the role in logs and traces, such as "executor". */
  name: string;
  settings: RoleSettings;
  /** True for a role that brings work to the others: it ends before them. Default false. */
  stopsFirst?: boolean;
  /** The failpoints of each of its ports, by method. */
  failpoints: readonly Readonly<Record<string, string>>[];
  /** What it needs of the store of its process. Default: nothing. */
  storeOptions?(registry: Registry): StoreOptions;
  /** Resolves when the role takes work. */
  start(parts: RoleParts<Store, Queues>): Promise<void>;
}

/** At least one role. */
type Roles<Store, Queues, StoreOptions> = readonly [
  Role<Store, Queues, StoreOptions>,
  ...Role<Store, Queues, StoreOptions>[],
];

type ReadFigures = NonNullable<SystemMetricsParts["readFigures"]>;

/** The parts that the roles of a process share, as one role gets them. */
export interface RoleParts<Store, Queues> {
  /** Names this role of this process. No other role or process ever had this name. */
  name: string;
  /** Its lines have the name of the role as their `service`. */
  logger: Logger;
  registry: Registry;
  /** Without failpoints. */
  store: Store;
  /** Without failpoints. */
  queues: Queues;
  failpoints: Failpoints;
  /** The environment of the process. */
  env: NodeJS.ProcessEnv;
  /** Undefined while tracing is not configured. */
  traces: Traces | undefined;
  /** Address of the health server of the process; "" without one. */
  healthUrl: string;
  /** Receives the steps that end the role. Store and queues close later. */
  stop: Pick<StopSteps, "add">;
  /** Says at `/readyz` why the role takes no work yet. It takes work when its start has resolved. */
  notReadyBecause(reason: string): void;
  /**
   * Shares a reader of the figures of the whole system ({@link SystemMetricsParts}), which one role of a process
   * shows.
   * @returns for the first role, what reads them for all roles; undefined for the others
   */
  shareFigures(read: ReadFigures): ReadFigures | undefined;
}

/** What roles see of the process that they run in. */
export interface RolesHost extends NonNullable<ShutdownOptions["process"]> {
  env: NodeJS.ProcessEnv;
  stderr: { write(text: string): unknown };
  /** Where log lines go. Default: standard output. */
  log?: DestinationStream;
}

/** What the roles of a process run on. */
export interface RolesOptions<Store, Queues, StoreOptions> {
  /** Names the process in its own log lines and in its metrics. */
  service: string;
  /**
   * Port of `/healthz`, `/readyz` and `/metrics`, at the host of the roles. Default: that of the only role, if it
   * has one.
   */
  healthPort?: number | undefined;
  createStore(
    options: StoreOptions & {
      url: string;
      journalMetrics: JournalCounters;
      onConversion: (progress: object) => void;
    },
  ): Store | Promise<Store>;
  createQueues(options: {
    redisUrl: string;
    prefix: string;
    onError: (error: unknown, id?: string) => void;
    logger: Logger;
  }): Queues;
  /** Called with what ends the roles, before anything is opened. Default: only signals end them. */
  onShutdown?: ((shutdown: Pick<Shutdown, "run">) => void) | undefined;
  /** Default: this process. A test runs roles in its own process, which they must not observe or end. */
  host?: RolesHost;
}

/** How much longer the complete shutdown may take than the end of planners and executors, in milliseconds. */
const SHUTDOWN_MARGIN_MS = 5_000;

/**
 * Runs roles as this process until a signal ends it; resolves when all take work. It ends with exit code 1 and one
 * line on standard error when a setting cannot work or a server is not suitable, and with exit code 1 and a fatal log
 * line of the role that cannot start. At its end, roles that bring work stop first; then the others finish or hand over their work, at
 * the same time; then connections close.
 * @returns ends the roles as a signal does
 */
export async function runRoles<
  Store extends { ping(): Promise<unknown>; close(): Promise<void> },
  Queues extends { close(): Promise<void> },
  StoreOptions extends object,
>(
  roles: Roles<Store, Queues, StoreOptions>,
  options: RolesOptions<Store, Queues, StoreOptions>,
): Promise<Pick<Shutdown, "run">> {
  const { host = process } = options;
  const logger = loggerOf(host, options.service, roles[0].settings);
  const longestMs = (among: readonly Role<Store, Queues, StoreOptions>[], marginMs: number): number =>
    Math.max(0, ...among.map(({ settings }) => settings.SHUTDOWN_TIMEOUT_MS + marginMs));
  const first = roles.filter(({ stopsFirst }) => stopsFirst);
  const others = roles.filter(({ stopsFirst }) => !stopsFirst);
  const timeoutMs = longestMs(first, 0) + longestMs(others, SHUTDOWN_MARGIN_MS);
  const shutdown = createShutdown({ logger, timeoutMs, process: host });
  options.onShutdown?.(shutdown);
  const opened = await readOrExit(() => openParts(roles, { ...options, host }, { logger, shutdown }), host);
  const starts = opened.map(async ({ role, parts, started }) => {
    try {
      await role.start(parts);
      started();
    } catch (error) {
      // What fails while the process stops is not the reason.
      if (!shutdown.signal.aborted) parts.logger.fatal({ err: error }, `${role.name} could not start`);
      await shutdown.run("error", 1);
    }
  });
  await Promise.all(starts);
  return shutdown;
}

function loggerOf({ log }: RolesHost, service: string, { LOG_LEVEL: level }: RoleSettings): Logger {
  return createLogger({ service, level, ...(log && { destination: log }) });
}

/** A role, with what its start gets and what follows its start. */
interface OpenedRole<Store, Queues, StoreOptions> {
  role: Role<Store, Queues, StoreOptions>;
  parts: RoleParts<Store, Queues>;
  started: () => void;
}

async function openParts<
  Store extends { ping(): Promise<unknown>; close(): Promise<void> },
  Queues extends { close(): Promise<void> },
  StoreOptions extends object,
>(
  roles: Roles<Store, Queues, StoreOptions>,
  options: RolesOptions<Store, Queues, StoreOptions> & { host: RolesHost },
  { logger, shutdown }: { logger: Logger; shutdown: Shutdown },
): Promise<OpenedRole<Store, Queues, StoreOptions>[]> {
  const { settings } = roles[0];
  const { host } = options;
  const registry = createMetrics(options.service);
  const failpoints = createFailpoints(
    settings.FAILPOINT,
    host.stderr,
    ...roles.flatMap((role) => role.failpoints),
  );
  const tracings = await Promise.all(
    roles.map(async (role) => {
      const roleLogger = loggerOf(host, role.name, settings);
      const name = workerName();
      const tracing = { service: role.name, instance: name, env: host.env, logger: roleLogger };
      return { role, name, logger: roleLogger, tracing: await startTracing(tracing) };
    }),
  );
  const store = await options.createStore(
    Object.assign(
      {
        url: settings.MONGODB_URL,
        journalMetrics: createJournalMetrics(registry),
        onConversion: (progress: object) =>
          logger.info(progress, "the database has an earlier format and is converted"),
      },
      ...roles.map((role) => role.storeOptions?.(registry)),
    ),
  );
  const queues = options.createQueues({
    redisUrl: settings.REDIS_URL,
    prefix: settings.QUEUE_PREFIX,
    onError: (error, id) =>
      logger.warn({ err: error, ...logFactsOfId(id) }, "queue error; the sweepers find the work"),
    logger,
  });
  /** The check of a role at `/readyz`. */
  const checkOf = (role: { name: string }): string => (roles.length === 1 ? "start" : role.name);
  const notReady = new Map(roles.map((role) => [checkOf(role), "it is starting"]));
  const checks = [...notReady.keys()].map((check) => {
    const run = async (): Promise<void> => {
      const reason = notReady.get(check);
      if (reason !== undefined) throw new Error(reason);
    };
    return [check, run] as const;
  });
  const { healthPort = settings.HEALTH_PORT } = options;
  const health =
    healthPort === undefined
      ? undefined
      : await createHealthServer({
          host: settings.HOST,
          port: healthPort,
          checks: { mongodb: () => store.ping(), ...Object.fromEntries(checks) },
          metrics: registry,
          stopping: shutdown.signal,
        });
  const figures: ReadFigures[] = [];
  const opened = tracings.map(({ role, name, logger: roleLogger, tracing }) => {
    const stop = createStopSteps(roleLogger);
    const parts: RoleParts<Store, Queues> = {
      name,
      logger: roleLogger,
      registry,
      store,
      queues,
      failpoints,
      env: host.env,
      traces: tracing.traces,
      healthUrl: health?.url ?? "",
      stop,
      notReadyBecause: (reason) => void notReady.set(checkOf(role), reason),
      shareFigures: (read) => (figures.push(read) === 1 ? () => firstOf(figures) : undefined),
    };
    return { role, parts, stop, started: () => void notReady.delete(checkOf(role)) };
  });
  const stopsOf = (isFirst: boolean): StopSteps[] =>
    opened.filter(({ role }) => (role.stopsFirst ?? false) === isFirst).map(({ stop }) => stop);
  shutdown.addTogether(...stopsOf(true));
  shutdown.addTogether(...stopsOf(false));
  shutdown.add("queues", () => queues.close());
  shutdown.add("health", () => health?.close());
  shutdown.add("store", () => store.close());
  shutdown.add("traces", () => Promise.all(tracings.map(({ tracing }) => tracing.stop())));
  return opened;
}

/** The figures of the first reader that has them. */
async function firstOf(readers: readonly ReadFigures[]): ReturnType<ReadFigures> {
  for (const read of readers) {
    const figures = await read();
    if (figures) return figures;
  }
  return null;
}
