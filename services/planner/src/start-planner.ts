import type { Drafter } from "@planwright/models";
import { resolvePolicy } from "@planwright/plan";
import { createSlots, createSweeper, type Handle, type Queues } from "@planwright/queue";
import {
  createWorkerService,
  type FailpointNames,
  heartbeatFailpoints,
  leaseFailpoints,
  type Role,
  type RoleOptions,
  type RoleParts,
} from "@planwright/runtime";
import type { Store, StoreOptions } from "@planwright/store";
import { partialText } from "./calls/call-meter.ts";
import { type PlannerSettings, readPlannerSettings } from "./env.ts";
import { createContractAsks, createModelQuota } from "./jobs/contract-asks.ts";
import { createHeldRequests } from "./jobs/held-requests.ts";
import { createPlanningLog, createPlanningRuns, createPlanRequest } from "./jobs/plan-request.ts";
import { createPlanningWork } from "./jobs/planning-work.ts";
import { countRuns } from "./jobs/run-metrics.ts";
import { createPlannerMetrics } from "./planner-metrics.ts";
import { createPlanningTraces, traceModelCalls } from "./planning-traces.ts";

/** Where reads and writes of the store and their acknowledgements begin and end. */
const STORE_FAILPOINTS = {
  claimRequest: "planner.claim",
  ...heartbeatFailpoints("planner"),
  recordModelCall: "planner.record",
  beginModelCall: "planner.reserve",
  endModelCall: "planner.settle",
  completePlanning: "planner.store",
  failPlanning: "planner.fail",
  askQuestions: "planner.ask",
  readPlanRecord: "planner.read",
  completeReplan: "planner.replan",
  failReplan: "planner.fail-replan",
  completeAnswer: "planner.answer",
  failAnswer: "planner.unanswered",
  postponePlanning: "planner.postpone",
} as const satisfies FailpointNames<Store>;

/** Where reads and writes of the leases of requests begin and end. */
const LEASE_FAILPOINTS = leaseFailpoints("planner");

/** Where a model call begins and ends. */
const MODEL_FAILPOINTS = {
  draft: "planner.model",
  draftDirectly: "planner.direct",
  answer: "planner.write-answer",
} as const satisfies FailpointNames<Drafter>;

/** Where executors get a hint about a plan. */
const OFFER_FAILPOINTS = { offerExecution: "planner.offer" } as const;

/** How often this process looks for questions of operators about contracts, in milliseconds. */
const CHECK_ASKS_EVERY_MS = 500;
/** How often this process looks whether there is more than one tenant, and for their weights, in milliseconds. */
const READ_TENANTS_EVERY_MS = 5_000;

/**
 * Reads the settings of a planner, and what they name.
 * @throws {CodedError} that names the setting
 */
export async function readPlanner(
  env: NodeJS.ProcessEnv,
  options?: RoleOptions,
): Promise<Role<Store, Queues, Partial<StoreOptions>>> {
  const settings = await readPlannerSettings(env, options);
  return {
    name: "planner",
    settings,
    failpoints: [STORE_FAILPOINTS, LEASE_FAILPOINTS, MODEL_FAILPOINTS, OFFER_FAILPOINTS],
    start: (parts) => startPlanner(parts, settings),
  };
}

/** Starts a planner; resolves when it takes requests. */
export async function startPlanner(
  parts: RoleParts<Store, Queues>,
  settings: PlannerSettings,
): Promise<void> {
  const { logger, registry, failpoints } = parts;
  const { prices } = settings;
  const metrics = createPlannerMetrics(registry);
  const service = createWorkerService(parts, {
    kind: "planner",
    settings,
    storeFailpoints: STORE_FAILPOINTS,
    notReadyBecause: "it does not take requests yet",
  });
  const { store } = service;
  const leases = failpoints.around(store.requestLeases, LEASE_FAILPOINTS);

  const drafter = failpoints.around(settings.drafter, MODEL_FAILPOINTS);
  const offers = failpoints.around(parts.queues, OFFER_FAILPOINTS);
  const partialAnswers = parts.queues.openPartialAnswerWriter(partialText);
  const traces = parts.traces && createPlanningTraces(parts.traces);
  const log = createPlanningLog(logger, (request) => traces?.logFacts(request) ?? {});

  const heartbeat = await service.startHeartbeat({
    hasModel: drafter.name !== "offline",
    onDead: () => held.loseAll(),
  });
  const held = createHeldRequests({
    store,
    leases,
    liveness: heartbeat,
    maxRequests: settings.MAX_REQUESTS,
    deadAfterMs: settings.DEAD_AFTER_MS,
    logger,
  });
  const planRequest = createPlanRequest({
    held,
    work: createPlanningWork({
      store: traceModelCalls(store, traces),
      drafter,
      prices,
      policy: resolvePolicy({ replannedEffects: settings.REPLANNED_EFFECTS }),
      catalogueWaitMs: settings.CATALOGUE_WAIT_MS,
      modelUnreachableMs: settings.MODEL_UNREACHABLE_MS,
      metrics: metrics.models,
      partialAnswers,
      onReuse: (claim, call) => log.reused(claim, call),
    }),
    offerExecution: (plan) => offers.offerExecution(plan),
    log,
    traces,
  });
  const runs = createPlanningRuns({
    planRequest: countRuns(planRequest, metrics.runs),
    allowed: () => held.allowed(),
  });

  const quota = createModelQuota({
    store,
    maxPerHour: settings.MAX_MODEL_CALLS_PER_HOUR,
    onPaused: (tenant, pause) =>
      logger.warn({ tenant, ...pause }, "planning waits: the tenant has made its model calls of an hour"),
  });
  const contractAsks = createContractAsks({
    store,
    drafter,
    prices,
    metrics: metrics.models,
    quota,
    planner: () => heartbeat.owner(),
    logger,
  });
  /** The offline drafter makes no calls. */
  const isLimited = drafter.name !== "offline";
  const take: Handle = async (requestId, tenant, begun) => {
    begun(); // a planner mostly waits for its model
    if (!isLimited || (await quota.allows(tenant))) await runs.take(requestId);
  };
  let isShared = await store.hasManyTenants();
  const slots = createSlots({
    max: settings.MAX_REQUESTS,
    capacity: () => runs.capacity(),
    isShared: () => isShared,
    blocked: () => quota.paused(),
  });
  const worker = await parts.queues.startWorker({
    queue: "planning",
    slots,
    handle: take,
    onError: service.report,
  });
  service.repeat(READ_TENANTS_EVERY_MS, async () => {
    await quota.check();
    isShared = await store.hasManyTenants();
    if (worker.isConnected()) await worker.setWeights(await store.tenantWeights());
  });
  service.repeat(CHECK_ASKS_EVERY_MS, () => contractAsks.check());
  const sweeper = createSweeper({
    everyMs: settings.SWEEP_EVERY_MS,
    find: (limit, full) => leases.findInTurns(limit, full),
    slots,
    handle: take,
    onError: service.report,
  });

  service.ready(
    {
      heartbeat,
      sweeper,
      countWaiting: () => worker.countWaiting(),
      stopFirst: { "contract questions": () => contractAsks.stop() },
      handOver: (timeoutMs) => runs.drain(timeoutMs),
      stopLast: {
        held: () => held.end(),
        queue: () => worker.close(),
        partialAnswers: () => partialAnswers.close(),
      },
    },
    { model: drafter.name },
  );
}
