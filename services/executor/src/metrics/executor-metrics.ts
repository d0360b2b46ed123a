import { createBoundedLabel, createMeters, type Registry } from "@planwright/runtime";
import type { RunMetrics } from "./run-metrics.ts";

/** The counters of an executor. */
export interface ExecutorMetrics {
  runs: RunMetrics;
  /** A bulk of grouped writes was acknowledged. */
  bulkWritten(writes: number): void;
  /** Requests that ended long ago were removed. */
  requestsRemoved(count: number): void;
}

/** From cached answers to the default timeout of a step, and longer. */
const CALL_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** Registers the counters of an executor. */
export function createExecutorMetrics(registry: Registry): ExecutorMetrics {
  const { counter, gauge, histogram } = createMeters(registry, "planwright_executor");
  const held = gauge("plans_held", "Plans that this process works on now");
  const claims = counter("claims_total", "Claims of plans; a plan may be claimed several times");
  const ended = counter("plans_ended_total", "Plans that reached a terminal status here", ["status"]);
  const leaseLosses = counter("lease_losses_total", "Plans abandoned because their lease was lost");
  const retries = counter("retries_total", "Calls sent that were not the first of their step");
  const inDoubt = counter("in_doubt_total", "Units whose call may or may not have had its effect");
  const attempts = counter("attempts_total", "Tool calls that ended", ["tool", "outcome"]);
  const latency = histogram("step_duration_seconds", "Duration of tool calls, one attempt each", {
    seconds: CALL_SECONDS,
    labelNames: ["tool"],
  });
  const outputsHeld = gauge("output_bytes_held", "Bytes of outputs in memory that could be read again");
  const outputsRead = counter(
    "output_bytes_read_total",
    "Bytes of outputs read again after they had left memory",
  );
  const memoryReserved = gauge(
    "memory_bytes_reserved",
    "Bytes of arguments of calls that insert large outputs, and of outputs being read",
  );
  const bulks = counter("commit_bulks_total", "Bulks of grouped writes acknowledged by MongoDB");
  const writes = counter("commit_writes_total", "Writes in those bulks");
  const removed = counter("requests_removed_total", "Requests removed because they ended long ago");
  const toolLabel = createBoundedLabel();

  return {
    runs: {
      claimed: () => claims.inc(),
      held: (plans) => held.set(plans),
      ended: (status) => ended.inc({ status }),
      leaseLost: () => leaseLosses.inc(),
      retried: () => retries.inc(),
      attempted(name, outcome, durationMs) {
        const tool = toolLabel(name);
        attempts.inc({ tool, outcome });
        latency.observe({ tool }, durationMs / 1_000);
      },
      inDoubt: () => inDoubt.inc(),
      outputsHeld: (bytes) => outputsHeld.set(bytes),
      outputsRead: (bytes) => outputsRead.inc(bytes),
      memoryReserved: (bytes) => memoryReserved.set(bytes),
    },
    bulkWritten(count) {
      bulks.inc();
      writes.inc(count);
    },
    requestsRemoved: (count) => removed.inc(count),
  };
}
