import { Counter, Histogram, type Registry } from "@planwright/runtime";

/** How a call of a tool ended: done, refused by the tool, or failed, after which it is unknown whether it acted. */
export type CallOutcome = "ok" | "refused" | "failed";

/** Told of every call of a tool. @param tool - one of the tools' names; "unknown" for any other name */
export type CountCall = (tool: string, outcome: CallOutcome, durationMs: number) => void;

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Registers the metrics of the tools. */
export function createToolMetrics(registry: Registry): CountCall {
  const registers = [registry];
  const calls = new Counter({
    registers,
    name: "planwright_blog_tools_calls_total",
    help: "Calls of tools that were answered",
    labelNames: ["tool", "outcome"],
  });
  const latency = new Histogram({
    registers,
    name: "planwright_blog_tools_call_duration_seconds",
    help: "How long their answers took",
    labelNames: ["tool"],
    buckets: SECONDS,
  });
  return (tool, outcome, durationMs) => {
    calls.inc({ tool, outcome });
    latency.observe({ tool }, durationMs / 1_000);
  };
}
