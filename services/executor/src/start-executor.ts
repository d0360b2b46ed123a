import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createSlots, createSweeper, type Handle, type Queues } from "@planwright/queue";
import {
  createAddressGuard,
  createGuardedFetch,
  createWorkerService,
  type FailpointNames,
  heartbeatFailpoints,
  type Logger,
  leaseFailpoints,
  type Role,
  type RoleOptions,
  type RoleParts,
} from "@planwright/runtime";
import type { RetentionStore, Store, StoreOptions } from "@planwright/store";
import { createToolClients, signedServers, type ToolClients } from "@planwright/tools";
import { type ExecutorSettings, readExecutorSettings } from "./env.ts";
import { createCommitMetrics, createExecutorMetrics, registerToolServers } from "./metrics.ts";
import { createLargeJson } from "./outputs/large-json.ts";
import { createOutputMemory } from "./outputs/output-memory.ts";
import { createOutputRecorder } from "./outputs/output-recorder.ts";
import { createPlanRuns } from "./plan-runs.ts";
import { createCallRecorder } from "./run/call-recorder.ts";
import { createRunTraces } from "./run-traces.ts";
import { createSecretSource, createSecrets } from "./secrets.ts";
import { createSignInChecks, createSignIns, readSignInKey } from "./sign-ins.ts";
import {
  createCataloguePublisher,
  createCatalogueReader,
  createServerPublisher,
  createServerReloads,
} from "./tool-servers.ts";

export { readExecutorSettings } from "./env.ts";

/** Where reads and writes of the store and their acknowledgements begin and end. */
const STORE_FAILPOINTS = {
  claimPlan: "executor.claim",
  ...heartbeatFailpoints("executor"),
  applyControls: "executor.controls",
  writeIntents: "executor.intent",
  noteIntents: "executor.note",
  noteRecords: "executor.note-result",
  writeNoted: "executor.noted",
  writeRecords: "executor.result",
  releasePlan: "executor.release",
  finishPlan: "executor.finish",
} as const satisfies FailpointNames<Store>;

/** Where reads and writes of the leases of plans begin and end. */
const LEASE_FAILPOINTS = leaseFailpoints("executor");

/** Where a tool call begins and ends. */
const TOOL_FAILPOINTS = { callTool: "executor.call" } as const satisfies FailpointNames<ToolClients>;

/** Where a job of the queue begins and ends. */
const JOB_FAILPOINTS = { handle: "executor.job" } as const;

/**
 * How often MongoDB is searched for requests on which the end of their plan is not recorded yet, in
 * milliseconds.
 */
const RECONCILE_EVERY_MS = 15_000;
/** How often this process looks for servers that an operator wants to reload, in milliseconds. */
const CHECK_RELOADS_EVERY_MS = 500;
/** How often this process looks whether a person has signed in at a tool server, in milliseconds. */
const CHECK_SIGN_INS_EVERY_MS = 500;
/** How often this process looks whether there is more than one tenant, and for their weights, in milliseconds. */
const READ_TENANTS_EVERY_MS = 5_000;
/** How often secrets are read again, in milliseconds: another executor may have sent a newer value. */
const LEARN_SECRETS_EVERY_MS = 30_000;

/**
 * Reads the settings of an executor, and its servers file.
 * @throws {CodedError} that names the setting
 */
export async function readExecutor(
  env: NodeJS.ProcessEnv,
  options?: RoleOptions,
): Promise<Role<Store, Queues, Partial<StoreOptions>>> {
  const settings = await readExecutorSettings(env, options);
  return {
    name: "executor",
    settings,
    failpoints: [STORE_FAILPOINTS, LEASE_FAILPOINTS, TOOL_FAILPOINTS, JOB_FAILPOINTS],
    storeOptions: (registry) => ({
      planTimeoutMs: settings.PLAN_TIMEOUT_MS,
      onBulk: createCommitMetrics(registry),
    }),
    start: (parts) => startExecutor(parts, settings),
  };
}

/** Starts an executor; resolves when it takes plans. */
export async function startExecutor(
  parts: RoleParts<Store, Queues>,
  settings: ExecutorSettings,
): Promise<void> {
  const { name, logger, registry, failpoints, store: database, queues } = parts;
  const metrics = createExecutorMetrics(registry);
  const service = createWorkerService(parts, {
    kind: "executor",
    settings,
    storeFailpoints: STORE_FAILPOINTS,
    notReadyBecause: "the tools of its servers are not published yet",
  });
  const { store } = service;
  const config = settings.servers;
  const leases = failpoints.around(store.planLeases, LEASE_FAILPOINTS);

  const withSignIn = [...signedServers(config).keys()];
  await store.keepOnlyServers(Object.keys(config.mcpServers), withSignIn);
  const catalogue = createCatalogueReader(store);
  const publisher = createCataloguePublisher({ store, onPublished: () => catalogue.forget(), logger });
  const servers = createServerPublisher({ store, executor: name, logger });
  const outputMemory = createOutputMemory({ maxBytes: settings.OUTPUT_MEMORY_BYTES, metrics: metrics.runs });
  const largeJson = createLargeJson({ memory: outputMemory, logger });
  const addresses = createAddressGuard(settings.OUTBOUND_ADDRESSES);
  const tools = createToolClients(config, {
    logger,
    readLarge: (answer) => largeJson.read(answer),
    signIns: createSignIns({
      store,
      key: () => readSignInKey(settings),
      redirectUrl: settings.signInRedirectUrl,
      fetch: createGuardedFetch(addresses),
      logger,
    }),
    addresses,
    connectTimeoutMs: settings.CONNECT_TIMEOUT_MS,
    serversFolder: join(settings.DATA_DIR, "servers"),
    onCatalogue: (offered) => publisher.publish(offered),
    onStatus: (status) => servers.publish(status),
  });
  const secrets = createSecrets({
    source: createSecretSource({ directory: settings.SECRETS_DIR, variables: parts.env }),
    servers: config.mcpServers,
    addSecrets: (server, values) => tools.addSecrets(server, values),
  });
  registerToolServers(registry, () => tools.status());
  await secrets.learn();
  const askedBefore = await store.readAskedReloads();
  await tools.start();
  await publisher.published();
  parts.notReadyBecause("it does not take plans yet");

  const limits = queues.openToolLimits({
    leaseMs: settings.LIMIT_LEASE_MS,
    onError: (error) => logger.warn({ err: error }, "limits: Redis does not answer; limited calls wait"),
  });
  const outputs = settings.LEARN_OUTPUTS === "on" ? createOutputRecorder({ store, logger }) : undefined;
  const callRecorder = createCallRecorder({ store, logger });
  const heartbeat = await service.startHeartbeat({ onDead: () => runs.loseAll() });
  const runs = createPlanRuns({
    store,
    leases,
    tools: failpoints.around(tools, TOOL_FAILPOINTS),
    signIns: tools,
    secrets,
    limits,
    outputs,
    callRecorder,
    outputMemory,
    largeJson,
    readCatalogue: () => catalogue.read(),
    readCatalogueNow: () => store.toolCatalogue(),
    serversTried: tools.tried().then(() => publisher.published()),
    liveness: heartbeat,
    offerPlanning: (request) => queues.offerPlanning(request),
    maxPlans: settings.MAX_PLANS,
    deadAfterMs: settings.DEAD_AFTER_MS,
    maxStepTimeoutMs: settings.MAX_STEP_TIMEOUT_MS,
    logger,
    metrics: metrics.runs,
    traces: parts.traces && createRunTraces(parts.traces),
  });

  const reloads = createServerReloads(
    { store, tools, published: () => publisher.published(), executor: () => heartbeat.owner(), logger },
    askedBefore,
  );

  const signIns = createSignInChecks({
    store,
    tools,
    servers: withSignIn,
    now: () => performance.now(),
    logger,
  });
  const handle: Handle = async (planId, _tenant, begun) => {
    const run = await runs.take(planId, begun);
    begun();
    await run?.done;
  };
  const jobs = failpoints.around({ handle }, JOB_FAILPOINTS);
  let isShared = await store.hasManyTenants();
  const slots = createSlots({
    max: settings.MAX_PLANS,
    capacity: () => runs.capacity(),
    isShared: () => isShared,
  });
  const worker = await queues.startWorker({
    queue: "execution",
    slots,
    handle: jobs.handle,
    reserve: (planId) => runs.reserve(planId),
    onError: service.report,
  });
  service.repeat(READ_TENANTS_EVERY_MS, async () => {
    isShared = await store.hasManyTenants();
    if (worker.isConnected()) await worker.setWeights(await store.tenantWeights());
  });
  const sweeper = createSweeper({
    everyMs: settings.SWEEP_EVERY_MS,
    find: (limit, full) => leases.findInTurns(limit, full),
    slots,
    handle,
    onError: service.report,
  });
  const retention = startRetention({
    store: database,
    keptDays: settings.RETENTION_DAYS,
    now: () => database.now(),
    logger,
    onRemoved: (count) => metrics.requestsRemoved(count),
  });
  // Rarely needed and scans all running plans, so it has its own slow interval.
  service.repeat(RECONCILE_EVERY_MS, () => store.reconcileRequests());
  service.repeat(LEARN_SECRETS_EVERY_MS, () => secrets.learn());
  service.repeat(CHECK_RELOADS_EVERY_MS, () => reloads.check());
  service.repeat(CHECK_SIGN_INS_EVERY_MS, () => signIns.check());

  service.ready(
    {
      heartbeat,
      sweeper,
      countWaiting: () => worker.countWaiting(),
      stopFirst: { retention: () => retention.stop() },
      handOver: (timeoutMs) => runs.handOver(timeoutMs),
      stopLast: {
        outputs: () => outputs?.stop(),
        "counts of calls": () => callRecorder.stop(),
        limits: () => limits.close(),
        queue: () => worker.close(),
        tools: () => tools.close(),
        threads: () => largeJson.stop(),
        catalogue: () => publisher.stop(),
        servers: () => servers.stop(),
      },
    },
    {
      servers: tools.status().map(({ since, nextAttemptAt, ...status }) => ({
        ...status,
        since: new Date(since).toISOString(),
        ...(nextAttemptAt !== undefined && { nextAttemptAt: new Date(nextAttemptAt).toISOString() }),
      })),
    },
  );
}

/** Dependencies of {@link startRetention}. */
export interface RetentionParts {
  store: RetentionStore;
  /** How long requests that ended are kept, in days; `never`: they are not removed. */
  keptDays: number | "never";
  /** Unix milliseconds, by the clock of the database. */
  now: () => number;
  logger: Logger;
  /** Called with the number of removed requests. */
  onRemoved: (count: number) => void;
  /** Time between two rounds, in milliseconds. Default: one hour. */
  everyMs?: number | undefined;
  /** Time before the first round, in milliseconds. Default: 10,000. */
  firstMs?: number | undefined;
}

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const FIRST_MS = 10_000;
/** Number of requests in one removal. */
const BATCH = 100;
/** Pause between two removals, in milliseconds, so that other operations are served. */
const PAUSE_MS = 100;

/** Removes requests that ended long ago, at an interval, until it is stopped. */
export function startRetention(parts: RetentionParts): { stop(): Promise<void> } {
  const { store, keptDays, now, logger, onRemoved, everyMs = HOUR_MS, firstMs = FIRST_MS } = parts;
  const stopping = new AbortController();
  const { signal } = stopping;
  const pause = (ms: number): Promise<void> =>
    delay(ms, undefined, { signal, ref: false }).catch(() => undefined);

  async function removeAll(keptMs: number): Promise<void> {
    const endedBefore = new Date(now() - keptMs);
    let removed = 0;
    for (let count = BATCH; count === BATCH && !signal.aborted; await pause(PAUSE_MS)) {
      count = await store.removeEnded({ endedBefore, limit: BATCH });
      removed += count;
      onRemoved(count);
    }
    if (removed > 0) logger.info({ removed, endedBefore }, "requests that ended long ago are removed");
  }

  async function removeRepeatedly(keptMs: number): Promise<void> {
    for (await pause(firstMs); !signal.aborted; await pause(everyMs)) {
      await removeAll(keptMs).catch((error: unknown) =>
        logger.warn({ err: error }, "old requests were not removed; the next round tries again"),
      );
    }
  }

  const removing = keptDays === "never" ? Promise.resolve() : removeRepeatedly(keptDays * DAY_MS);
  return {
    async stop() {
      stopping.abort();
      await removing;
    },
  };
}
