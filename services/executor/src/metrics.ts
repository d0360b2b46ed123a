import {
  STEP_ERROR_CODES,
  type StepError,
  type StepRecord,
  unitTime,
  waitedForPeopleMs,
} from "@planwright/engine";
import {
  isCarried,
  isJsonObject,
  isTerminalStepStatus,
  type Plan,
  type StepStatus,
  toolOfStep,
  type WaitReason,
} from "@planwright/plan";
import {
  createBoundedLabel,
  createMeters,
  Gauge,
  type Logger,
  OTHER,
  type Registry,
} from "@planwright/runtime";
import type { AttemptEnd, FinishCommand, PlanClaim } from "@planwright/store";
import type { ServerStatus } from "@planwright/tools";
import type { PlanTools } from "./run/plan-tools.ts";

/** The counters of an executor. */
interface ExecutorMetrics {
  runs: RunMetrics;
  /** Requests that ended long ago were removed. */
  requestsRemoved(count: number): void;
}

/** From cached answers to the default timeout of a step, and longer. */
const CALL_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** From a plan of one read to a wait for people over some nights. */
const PLAN_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600, 14_400, 86_400, 604_800];

const OUR_CODES: ReadonlySet<string> = new Set(STEP_ERROR_CODES);
/** Codes are a closed list. Those that tools report themselves share one value. */
const codeLabel = (error: { code: string } | undefined): string =>
  error === undefined ? "" : OUR_CODES.has(error.code) ? error.code : OTHER;

/** Most servers with a label of their own. */
const MAX_SERVERS = 100;

/** Registers the counters of an executor. */
export function createExecutorMetrics(registry: Registry): ExecutorMetrics {
  const { counter, gauge, histogram } = createMeters(registry, "planwright_executor");
  const held = gauge("plans_held", "Plans that this process works on now");
  const claims = counter("claims_total", "Claims of plans; a plan may be claimed several times");
  const ended = counter("plans_ended_total", "Plans that reached a terminal status here", [
    "status",
    "code",
    "server",
  ]);
  const planDuration = histogram(
    "plan_duration_seconds",
    "Own time of plans from the acceptance of their execution to their end: without waits for people",
    { seconds: PLAN_SECONDS, labelNames: ["status"] },
  );
  const waits = histogram(
    "plan_wait_seconds",
    "Time that plans waited without an executor until one claimed them, by the reason",
    { seconds: PLAN_SECONDS, labelNames: ["reason"] },
  );
  const stepsEnded = counter("steps_ended_total", "Steps and items that reached a terminal status here", [
    "tool",
    "server",
    "status",
    "code",
  ]);
  const stepDuration = histogram(
    "step_duration_seconds",
    "Own time of steps and items from their first attempt to their end: with retries, without waits for people",
    { seconds: CALL_SECONDS, labelNames: ["tool", "server"] },
  );
  const leaseLosses = counter("lease_losses_total", "Plans abandoned because their lease was lost");
  const retries = counter("retries_total", "Calls sent that were not the first of their step");
  const inDoubt = counter("in_doubt_total", "Units whose call may or may not have had its effect");
  const attempts = counter("attempts_total", "Tool calls that were sent and ended", [
    "tool",
    "server",
    "outcome",
    "code",
  ]);
  const latency = histogram("attempt_duration_seconds", "Duration of tool calls that were sent", {
    seconds: CALL_SECONDS,
    labelNames: ["tool", "server"],
  });
  const unreachable = counter(
    "unreachable_total",
    "Calls that were not sent because their server could not be reached",
    ["server"],
  );
  const outputsHeld = gauge("output_bytes_held", "Bytes of outputs in memory that could be read again");
  const outputsRead = counter(
    "output_bytes_read_total",
    "Bytes of outputs read again after they had left memory",
  );
  const memoryReserved = gauge(
    "memory_bytes_reserved",
    "Bytes of arguments of calls that insert large outputs, and of outputs being read",
  );
  const removed = counter("requests_removed_total", "Requests removed because they ended long ago");
  const toolLabel = createBoundedLabel();
  const boundedServer = createBoundedLabel(MAX_SERVERS);
  const serverLabel = (server: string | undefined): string =>
    server === undefined ? "" : boundedServer(server);

  return {
    runs: {
      claimed(waited) {
        claims.inc();
        if (waited) waits.observe({ reason: waited.reason }, waited.ms / 1_000);
      },
      held: (plans) => held.set(plans),
      ended({ status, error, server, durationMs }) {
        ended.inc({ status, code: codeLabel(error), server: serverLabel(server) });
        if (durationMs !== null) planDuration.observe({ status }, durationMs / 1_000);
      },
      stepEnded({ status, error, durationMs, ...of }) {
        const labels = { tool: toolLabel(of.tool), server: serverLabel(of.server) };
        stepsEnded.inc({ ...labels, status, code: codeLabel(error) });
        if (durationMs !== null) stepDuration.observe(labels, durationMs / 1_000);
      },
      leaseLost: () => leaseLosses.inc(),
      retried: () => retries.inc(),
      attempted({ outcome, error, durationMs, ...of }) {
        const labels = { tool: toolLabel(of.tool), server: serverLabel(of.server) };
        attempts.inc({ ...labels, outcome, code: codeLabel(error) });
        latency.observe(labels, durationMs / 1_000);
      },
      unreachable: (server) => unreachable.inc({ server: serverLabel(server) }),
      inDoubt: () => inDoubt.inc(),
      outputsHeld: (bytes) => outputsHeld.set(bytes),
      outputsRead: (bytes) => outputsRead.inc(bytes),
      memoryReserved: (bytes) => memoryReserved.set(bytes),
    },
    requestsRemoved: (count) => removed.inc(count),
  };
}

/**
 * Registers the counters of grouped writes.
 * @returns counts a bulk that MongoDB acknowledged, by the number of its writes
 */
export function createCommitMetrics(registry: Registry): (writes: number) => void {
  const { counter } = createMeters(registry, "planwright_executor");
  const bulks = counter("commit_bulks_total", "Bulks of grouped writes acknowledged by MongoDB");
  const writes = counter("commit_writes_total", "Writes in those bulks");
  return (count) => {
    bulks.inc();
    writes.inc(count);
  };
}

/**
 * Registers `planwright_executor_tool_server_connected{server}`: 1 while this process is connected to the
 * server, otherwise 0. @param status - of all servers of the servers file
 */
export function registerToolServers(
  registry: Registry,
  status: () => readonly Pick<ServerStatus, "server" | "state">[],
): void {
  new Gauge({
    registers: [registry],
    name: "planwright_executor_tool_server_connected",
    help: "1 while this process is connected to the tool server, otherwise 0",
    labelNames: ["server"],
    collect() {
      this.reset();
      for (const { server, state } of status().slice(0, MAX_SERVERS))
        this.set({ server }, state === "connected" ? 1 : 0);
    },
  });
}

/** The tool of a step or call, by its name in the plan. */
interface CountedTool {
  tool: string;
  /** Undefined when the catalogue does not have the tool. */
  server: string | undefined;
}

/** What failed, and why. */
interface CountedFailure {
  /** Undefined when nothing failed. */
  error: Pick<StepError, "code"> | undefined;
}

/**
 * Counts events of plans and calls. Called once per event, on the path of every step, so it never waits and
 * never throws.
 */
export interface RunMetrics {
  /** A plan was claimed by this process. @param waited - null: it did not wait */
  claimed(waited: { reason: WaitReason; ms: number } | null): void;
  /** How many plans this process works on now. */
  held(plans: number): void;
  /**
   * The terminal status of a plan became durable. @param end.server - of the step because of which it failed
   * @param end.durationMs - own time since its execution was accepted; null: not known
   */
  ended(
    end: {
      status: FinishCommand["status"];
      server: string | undefined;
      durationMs: number | null;
    } & CountedFailure,
  ): void;
  /**
   * The terminal status of a step or item became durable.
   * @param end.durationMs - own time since its first attempt; null: it was never called
   */
  stepEnded(end: { status: StepStatus; durationMs: number | null } & CountedTool & CountedFailure): void;
  /** Work on a plan was abandoned because its lease was lost. */
  leaseLost(): void;
  /** A call was sent that is not the first of its step. */
  retried(): void;
  /** A tool call that was sent ended. */
  attempted(end: Pick<AttemptEnd, "outcome" | "durationMs"> & CountedTool & CountedFailure): void;
  /** A call was not sent, because its server could not be reached. */
  unreachable(server: string | undefined): void;
  /** A call ended in doubt: it is unknown whether it had its effect, and this is durable. */
  inDoubt(): void;
  /** Bytes of outputs in memory that could be dropped, over all plans. */
  outputsHeld(bytes: number): void;
  /** Dropped outputs were read again. */
  outputsRead(bytes: number): void;
  /** Bytes of arguments and of outputs being read, over all plans. */
  memoryReserved(bytes: number): void;
}

/** Counts nothing. */
export const NO_METRICS: RunMetrics = {
  claimed: () => undefined,
  held: () => undefined,
  ended: () => undefined,
  stepEnded: () => undefined,
  leaseLost: () => undefined,
  retried: () => undefined,
  attempted: () => undefined,
  unreachable: () => undefined,
  inDoubt: () => undefined,
  outputsHeld: () => undefined,
  outputsRead: () => undefined,
  memoryReserved: () => undefined,
};

/** Counts the ends of one plan and of its steps. */
export interface PlanMetrics {
  /** Units changed, durably. */
  recorded(records: readonly StepRecord[]): void;
  /** The plan has ended, durably. */
  ended(end: Pick<FinishCommand, "status" | "error">): void;
}

/** Counts for one claim of a plan. @param planTools - know the server of each tool */
export function createPlanMetrics(
  metrics: RunMetrics,
  { plan, journal }: Pick<PlanClaim, "plan" | "journal">,
  planTools: Pick<PlanTools, "addressOf">,
): PlanMetrics {
  const tools = new Map(plan.plan.steps.map((step) => [step.id, toolOfStep(step)]));
  const toolOf = (stepId: string) => {
    const tool = tools.get(stepId) ?? "";
    return { tool, server: planTools.addressOf(tool).server };
  };
  return {
    recorded(records) {
      for (const record of records) {
        const { key, stepId, status, error } = record;
        if (status === "IN_DOUBT") metrics.inDoubt();
        if (isCarried(record) || !isTerminalStepStatus(status)) continue;
        const unit = journal.unit(key);
        const durationMs = (unit && unitTime(unit, journal.plan()?.waits ?? [])?.ownMs) ?? null;
        metrics.stepEnded({ ...toolOf(stepId), status, error, durationMs });
      }
    },
    ended({ status, error }) {
      const stepId = stepOf(error);
      const { server } = stepId === undefined ? {} : toolOf(stepId);
      const ended = journal.plan();
      const { finishedAt = null } = ended ?? {};
      const totalMs = plan.queuedAt && finishedAt && finishedAt.getTime() - plan.queuedAt.getTime();
      const peopleMs = ended && finishedAt ? waitedForPeopleMs(ended, finishedAt) : 0;
      const durationMs = totalMs === null ? null : Math.max(0, totalMs - peopleMs);
      metrics.ended({ status, error, server, durationMs });
    },
  };
}

/**
 * Logs the work on a plan, so that the log alone shows what happened to a request: which executor claimed it
 * and from which one, which calls failed with which code or were made with a warning, such as a reference that
 * stayed text, and how the plan ended. Problems are warnings.
 */
export interface PlanLog extends PlanMetrics {
  /** The plan was claimed. */
  claimed(claim: PlanClaim): void;
}

/** Most lines about units under one claim: a list has up to 10,000 items. */
const MAX_LINES = 50;
/** Most characters of a tool's message. */
const MAX_MESSAGE = 500;
/** Most units, and most warnings, named in one line. */
const MAX_NAMED = 10;

/** @param logger - adds request, plan and epoch to every line */
export function createPlanLog(logger: Pick<Logger, "info" | "warn">, plan: Plan): PlanLog {
  let left = MAX_LINES;

  /** Looked for only where something is to be told: most plans have no such line. */
  function toolOf(stepId: string): string | undefined {
    const step = plan.steps.find(({ id }) => id === stepId);
    return step && toolOfStep(step);
  }

  function log(level: "info" | "warn", record: StepRecord, message: string): void {
    const { key, stepId, attempts, error, warnings = [] } = record;
    left -= 1;
    if (left < 0) return;
    const texts = warnings.slice(0, MAX_NAMED).map((text) => text.slice(0, MAX_MESSAGE));
    const told = texts.length > 0 ? { warnings: texts } : {};
    logger[level]({ step: key, tool: toolOf(stepId), attempts, ...factsOf(error), ...told }, message);
    if (left === 0)
      logger.warn("further calls that fail under this claim are not logged; the request shows them");
  }

  return {
    claimed({ plan: { takenFrom }, records }) {
      logger.info({ steps: plan.steps.length }, "plan claimed");
      if (typeof takenFrom !== "string") return;
      const running = records.filter(({ status }) => status === "RUNNING").map(({ key }) => key);
      const facts = { from: takenFrom, running: running.slice(0, MAX_NAMED), calls: running.length };
      logger.warn(facts, "plan taken over from an executor that did not release it");
    },
    recorded(records) {
      for (const record of records) {
        if (isCarried(record)) continue;
        if (record.status === "FAILED") log("warn", record, "step failed");
        if (record.status === "COMPLETED" && (record.warnings ?? []).length > 0)
          log("warn", record, "step completed with warnings");
        if (record.status === "IN_DOUBT") log("warn", record, "step in doubt");
        if (record.status === "RETRYING") log("info", record, "attempt failed; the call is tried again");
      }
    },
    ended({ status, error }) {
      if (status === "COMPLETED") return logger.info({ status }, "plan finished");
      const stepId = stepOf(error);
      const step = stepId === undefined ? {} : { step: stepId, tool: toolOf(stepId) };
      const facts = { status, ...step, ...factsOf(error) };
      if (status === "CANCELLED") logger.info(facts, "plan cancelled");
      else logger.warn(facts, status === "PARTIAL" ? "plan ended in part" : "plan failed");
    },
  };
}

function factsOf(error: StepError | undefined): { code?: string; reason?: string } {
  return error ? { code: error.code, reason: error.message.slice(0, MAX_MESSAGE) } : {};
}

/** Id of the step that an error of a plan names. */
function stepOf(error: StepError | undefined): string | undefined {
  const { data } = error ?? {};
  const stepId = isJsonObject(data) ? data["stepId"] : undefined;
  return typeof stepId === "string" ? stepId : undefined;
}
