import { type Drafter, definitionOf } from "@planwright/models";
import { resolvePolicy } from "@planwright/plan";
import { createSlots, createSweeper, type Handle, type Queues } from "@planwright/queue";
import {
  createBoundedLabel,
  createMeters,
  createWorkerService,
  endSpan,
  type FailpointNames,
  heartbeatFailpoints,
  leaseFailpoints,
  type Registry,
  type Role,
  type RoleOptions,
  type RoleParts,
  type Span,
  SpanKind,
  type Traces,
} from "@planwright/runtime";
import type {
  ModelCallBegin,
  ModelCallEnd,
  PlanningClaim,
  PlanningStore,
  Store,
  StoreOptions,
} from "@planwright/store";
import { partialText } from "./calls/call-meter.ts";
import type { ModelMetrics } from "./calls/model-metrics.ts";
import { type PlannerSettings, readPlannerSettings } from "./env.ts";
import { createContractAsks } from "./jobs/contract-asks.ts";
import { createHeldRequests } from "./jobs/held-requests.ts";
import { createModelQuota } from "./jobs/model-quota.ts";
import {
  type ClaimTraces,
  createPlanningLog,
  createPlanningRuns,
  createPlanRequest,
} from "./jobs/plan-request.ts";
import { createPlanningWork } from "./jobs/planning-work.ts";
import { countRuns, type PlanningMetrics } from "./jobs/run-metrics.ts";

export { readPlannerSettings } from "./env.ts";

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

/** The counters of a planner. */
interface PlannerMetrics {
  runs: PlanningMetrics;
  models: ModelMetrics;
}

/** From the offline drafter, which takes almost no time, to models with long reasoning. */
const SECONDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300];
/** There are few models and error codes; a bound is still needed, because both come from outside. */
const MAX_VALUES = 100;

/** Registers the counters of a planner. */
function createPlannerMetrics(registry: Registry): PlannerMetrics {
  const { counter, histogram } = createMeters(registry, "planwright_planner");
  const runs = counter("runs_total", "Work on requests that ended", ["outcome", "code"]);
  const runLatency = histogram("run_duration_seconds", "Duration of work on requests", {
    seconds: SECONDS,
    labelNames: ["outcome"],
  });
  const calls = counter("model_calls_total", "Model calls that ended", ["model", "outcome"]);
  const tokens = counter("model_tokens_total", "Tokens as providers counted them", ["model", "direction"]);
  const cost = counter("model_cost_usd_total", "Cost of calls of models with a known price", ["model"]);
  const callLatency = histogram("model_call_duration_seconds", "Duration of model calls", {
    seconds: SECONDS,
    labelNames: ["model"],
  });
  const repairs = counter("repairs_total", "Drafts that had to be repaired");
  const modelLabel = createBoundedLabel(MAX_VALUES);
  const codeLabel = createBoundedLabel(MAX_VALUES);

  return {
    runs: {
      ended(result, durationMs) {
        if (result.type === "skipped") return;
        const outcome = result.type;
        const code =
          result.type === "failed"
            ? result.code
            : result.type === "postponed"
              ? result.error.code
              : undefined;
        runs.inc({ outcome, code: code === undefined ? "" : codeLabel(code) });
        runLatency.observe({ outcome }, durationMs / 1_000);
      },
      broke: () => runs.inc({ outcome: "broken", code: "" }),
    },
    models: {
      called(name, end) {
        const model = modelLabel(name);
        calls.inc({ model, outcome: end.error ? codeLabel(end.error.code) : "answered" });
        tokens.inc({ model, direction: "input" }, end.inputTokens ?? 0);
        tokens.inc({ model, direction: "output" }, end.outputTokens ?? 0);
        cost.inc({ model }, end.costUsd ?? 0);
        callLatency.observe({ model }, end.latencyMs / 1_000);
      },
      repaired: () => repairs.inc(),
    },
  };
}

/** Makes the spans of requests that this process plans. Absent when tracing is not configured. */
interface PlanningTraces extends ClaimTraces {
  /** A model call begins, for a claim that has not ended. */
  calling(claim: PlanningClaim, call: ModelCallBegin): { ended(end: ModelCallEnd): void };
  /** Facts for the log lines about a request. */
  logFacts(request: PlanningClaim["request"]): { trace_id?: string };
}

/** Finish reasons are short; a longer text is not a finish reason. */
const MAX_FINISH_REASON = 40;

/** Spans of this process's requests. Each span belongs to the trace in which its request was accepted. */
function createPlanningTraces(traces: Traces): PlanningTraces {
  const spans = new WeakMap<PlanningClaim, Span>();

  return {
    logFacts: ({ trace }) => traces.logFacts(trace),

    claimed(claim) {
      const { request, epoch } = claim;
      const work = request.planning.work ?? "plan";
      const span = traces.start({
        name: `${work} request`,
        kind: SpanKind.CONSUMER,
        parent: request.trace,
        requestId: request._id,
        attributes: {
          "planwright.work": work,
          "planwright.epoch": epoch,
          "planwright.plan_id": request.planId,
        },
      });
      spans.set(claim, span);
      return {
        ended(result) {
          span.setAttribute("planwright.outcome", result.type);
          if (result.type === "planned") {
            span.setAttribute("planwright.plan_id", result.plan._id);
            span.setAttribute("planwright.steps", result.plan.plan?.steps.length ?? 0);
          }
          endSpan(span, result.type === "failed" ? result.code : null);
        },
        broke(code) {
          span.setAttribute("planwright.outcome", "broken off");
          endSpan(span, code);
        },
      };
    },

    calling(claim, { model: name, purpose, attempt }) {
      const separator = name.indexOf(":");
      const provider = name.slice(0, Math.max(separator, 0));
      const model = name.slice(separator + 1);
      const span = traces.start({
        name: `chat ${model}`,
        kind: SpanKind.CLIENT,
        parent: spans.get(claim) ?? claim.request.trace,
        requestId: claim.request._id,
        attributes: {
          "gen_ai.operation.name": "chat",
          "gen_ai.provider.name": definitionOf(name)?.traceName ?? provider,
          "gen_ai.request.model": model,
          "planwright.purpose": purpose,
          "planwright.attempt": attempt,
        },
      });
      return {
        ended({ inputTokens, outputTokens, finishReason, error }) {
          if (inputTokens !== null) span.setAttribute("gen_ai.usage.input_tokens", inputTokens);
          if (outputTokens !== null) span.setAttribute("gen_ai.usage.output_tokens", outputTokens);
          if (finishReason !== null) {
            const reason = finishReason.length <= MAX_FINISH_REASON ? finishReason : "other";
            span.setAttribute("gen_ai.response.finish_reasons", [reason]);
          }
          endSpan(span, error?.code);
        },
      };
    },
  };
}

type CallStore = Pick<PlanningStore, "beginModelCall" | "endModelCall">;

/** The same store, with a span for each model call that begins. Without traces it is the given store. */
function traceModelCalls<Store extends CallStore>(store: Store, traces: PlanningTraces | undefined): Store {
  if (!traces) return store;
  const openSpans = new Map<string, ReturnType<PlanningTraces["calling"]>>();
  const traced: CallStore = {
    async beginModelCall(claim, call) {
      const begun = await store.beginModelCall(claim, call);
      if (begun.type === "open") openSpans.set(begun.callId, traces.calling(claim, call));
      return begun;
    },
    endModelCall(callId, end) {
      openSpans.get(callId)?.ended(end);
      openSpans.delete(callId);
      return store.endModelCall(callId, end);
    },
  };
  return { ...store, ...traced };
}
