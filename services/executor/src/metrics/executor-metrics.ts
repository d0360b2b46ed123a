import { Counter, createBoundedLabel, Gauge, Histogram, type Registry } from "@planwright/runtime";
import type { RunMetrics } from "./run-metrics.ts";

/** What an executor counts beside what happens to plans. */
export interface ExecutorMetrics {
  runs: RunMetrics;
  /** A bulk of grouped writes was acknowledged. */
  bulkWritten(writes: number): void;
  /** Requests that ended long ago are gone. */
  requestsRemoved(count: number): void;
}

/** From answers out of a cache to calls that take as long as a step may by default, and longer. */
const CALL_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** Registers the counters of an executor. */
export function createExecutorMetrics(registry: Registry): ExecutorMetrics {
  const registers = [registry];
  const counter = (name: string, help: string): Counter =>
    new Counter({ registers, name: `planwright_executor_${name}`, help });
  const held = new Gauge({
    registers,
    name: "planwright_executor_plans_held",
    help: "Plans that this process works on now",
  });
  const claims = counter("claims_total", "Plans claimed, each time one is taken up again included");
  const ended = new Counter({
    registers,
    name: "planwright_executor_plans_ended_total",
    help: "Plans that reached a terminal status here",
    labelNames: ["status"],
  });
  const leaseLosses = counter("lease_losses_total", "Plans given up because their lease was gone");
  const retries = counter("retries_total", "Calls sent that were not the first of their step");
  const inDoubt = counter(
    "in_doubt_total",
    "Units of which it is not known whether their call had its effect",
  );
  const attempts = new Counter({
    registers,
    name: "planwright_executor_attempts_total",
    help: "Calls of tools that ended",
    labelNames: ["tool", "outcome"],
  });
  const latency = new Histogram({
    registers,
    name: "planwright_executor_step_duration_seconds",
    help: "How long calls of tools took, one attempt each",
    labelNames: ["tool"],
    buckets: CALL_SECONDS,
  });
  const outputsHeld = new Gauge({
    registers,
    name: "planwright_executor_output_bytes_held",
    help: "Bytes of outputs in memory that could be read again",
  });
  const outputsRead = counter("output_bytes_read_total", "Bytes of outputs read again that had left memory");
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
    },
    bulkWritten(count) {
      bulks.inc();
      writes.inc(count);
    },
    requestsRemoved: (count) => removed.inc(count),
  };
}
